/**
 * HMAC secrets by key id, opened once and cached. A key id never changes its secret, so the cache
 * cannot be stale. Whether a key may still be used is checked at every request, in the statement
 * that takes the request's nonce.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';

export interface KeyRing {
  /** Returns the secret of a key in any status; null for an unknown key. */
  secretOf(keyId: string): Promise<KeyObject | null>;
}

export interface KeyRingOptions {
  /** Reads and opens the secret of one key; null for an unknown key. */
  readonly read: (keyId: string) => Promise<string | null>;
  readonly now?: () => number;
}

/** Maximum number of cached secrets, more than any installation has; a full cache is emptied. */
const KEPT = 10_000;
/**
 * Limits for a flood of invented key ids: this many reads at a time, and one read for each id in
 * this time.
 */
const UNKNOWN_READS = 4;
const UNKNOWN_KEPT_MS = 1_000;

/**
 * Returns a ring that reads each key once. Unknown ids are read a few at a time, so that they
 * cannot use up the connection pool.
 */
export function createKeyRing({ read, now = Date.now }: KeyRingOptions): KeyRing {
  const known = new Map<string, KeyObject>();
  const unknown = new Map<string, number>();
  const reading = new Map<string, Promise<KeyObject | null>>();
  const waiting: (() => void)[] = [];
  let active = 0;

  const readOne = async (keyId: string): Promise<KeyObject | null> => {
    if (active >= UNKNOWN_READS) await new Promise<void>((resolve) => waiting.push(resolve));
    active += 1;
    try {
      const text = await read(keyId);
      if (text === null) {
        if (unknown.size >= KEPT) unknown.clear();
        unknown.set(keyId, now() + UNKNOWN_KEPT_MS);
        return null;
      }
      if (known.size >= KEPT) known.clear();
      const secret = createSecretKey(text, 'utf8');
      known.set(keyId, secret);
      return secret;
    } finally {
      active -= 1;
      waiting.shift()?.();
    }
  };

  return {
    secretOf: async (keyId) => {
      const found = known.get(keyId);
      if (found !== undefined) return found;
      if ((unknown.get(keyId) ?? 0) > now()) return null;
      let under = reading.get(keyId);
      if (under === undefined) {
        under = readOne(keyId).finally(() => reading.delete(keyId));
        reading.set(keyId, under);
      }
      return under;
    },
  };
}
