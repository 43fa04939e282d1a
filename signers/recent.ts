/** Caches an identity that is read over a connection. */
import { RECENT_IDENTITY_MS, type Signer } from '../domain/signer.ts';

/**
 * `identity` asks each time. `recentIdentity` asks once for all who ask meanwhile and for
 * {@link RECENT_IDENTITY_MS} after; a failure is never kept.
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
