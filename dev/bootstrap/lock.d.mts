import type { ProcessIdentity } from './identity.mjs';

/** What a lock file holds. */
export interface LockHolder extends ProcessIdentity {
  token: string;
}
export type LockResult = { release: () => void; holder?: undefined } | { holder: LockHolder; release?: undefined };
export function takeLock(path: string): Promise<LockResult>;
export function readLock(path: string): LockHolder | null;
