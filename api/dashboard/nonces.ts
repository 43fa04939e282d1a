/**
 * Nonces that the service issues, so that nothing can be signed ahead: each is a time and random
 * bits under a MAC. Every process of the service knows the MACs of all, since their key is derived
 * from a secret that they share. The database knows whether a nonce was used.
 */
import { randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';
import { hmacOf } from '../auth/canonical.ts';

export interface IssuedNonce {
  readonly nonce: string;
  /** Milliseconds since the epoch. */
  readonly expires_at: number;
}

export interface Nonces {
  issue(): IssuedNonce;
  /** What a nonce is worth now; `foreign` was not issued here. */
  check(nonce: string): 'good' | 'expired' | 'foreign';
}

/** How long one is taken. */
const LIVES_MS = 5 * 60_000;
/** How far the clock of the process that issued one may be ahead of this one's. */
const AHEAD_MS = 60_000;
const FORM = /^(?<head>(?<at>[0-9a-z]{1,10})\.[A-Za-z0-9_-]{22})\.(?<mac>[A-Za-z0-9_-]{43})$/;

/** Nonces under the first key; those under any of them are taken. There is at least one. */
export function createNonces(keys: readonly KeyObject[], now: () => number = Date.now): Nonces {
  const [first] = keys;
  if (first === undefined) throw new Error('no key to issue nonces with');
  return {
    issue: () => {
      const at = now();
      const head = `${at.toString(36)}.${randomBytes(16).toString('base64url')}`;
      return {
        nonce: `${head}.${hmacOf(first, head).toString('base64url')}`,
        expires_at: at + LIVES_MS,
      };
    },
    check: (nonce) => {
      const { head, at, mac } = FORM.exec(nonce)?.groups ?? {};
      if (head === undefined || at === undefined || mac === undefined) return 'foreign';
      const sent = Buffer.from(mac, 'base64url');
      if (!keys.some((key) => timingSafeEqual(hmacOf(key, head), sent))) return 'foreign';
      const age = now() - Number.parseInt(at, 36);
      return age <= LIVES_MS && age >= -AHEAD_MS ? 'good' : 'expired';
    },
  };
}
