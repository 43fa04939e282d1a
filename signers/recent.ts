/** An identity that has to be asked for over a connection, and how long what it was is good for. */
import { RECENT_IDENTITY_MS, type Signer } from '../domain/signer.ts';

/**
 * `identity` asks each time. `recentIdentity` asks once for all who ask meanwhile and for
 * {@link RECENT_IDENTITY_MS} after; a failure is never kept.
 */
export function cachedIdentity(
  ask: () => Promise<string>,
  now: () => number = () => performance.now(),
): Pick<Signer, 'identity' | 'recentIdentity'> {
  let last: { readonly at: number; readonly told: Promise<string> } | null = null;
  const identity = (): Promise<string> => {
    const mine = { at: now(), told: ask() };
    last = mine;
    mine.told.catch(() => {
      if (last === mine) last = null;
    });
    return mine.told;
  };
  return {
    identity,
    recentIdentity: () =>
      last !== null && now() - last.at < RECENT_IDENTITY_MS ? last.told : identity(),
  };
}
