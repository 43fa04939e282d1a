/** Caches the address of a signer that is behind a network connection. */
import { RECENT_IDENTITY_MS, type Signer } from '../domain/signer.ts';

/**
 * Caches the address. `identity` reads it each time. `recentIdentity` shares one read among all
 * callers, during that read and for {@link RECENT_IDENTITY_MS} after its start; a failure is not
 * cached.
 */
export function cachedIdentity(
  ask: () => Promise<string>,
  now: () => number = () => performance.now(),
): Pick<Signer, 'identity' | 'recentIdentity'> {
  let last: { readonly at: number; readonly address: Promise<string> } | null = null;
  const identity = (): Promise<string> => {
    const mine = { at: now(), address: ask() };
    last = mine;
    mine.address.catch(() => {
      if (last === mine) last = null;
    });
    return mine.address;
  };
  return {
    identity,
    recentIdentity: () =>
      last !== null && now() - last.at < RECENT_IDENTITY_MS ? last.address : identity(),
  };
}
