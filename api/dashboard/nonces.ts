/**
 * Nonces that the service issues, so that no request can be signed in advance: each holds a time
 * and random bits under a MAC. All processes derive the MAC key from a shared secret, so each can
 * check the nonces of all. The database records which nonces were used.
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
  /** Returns the state of a nonce; `foreign`: this service did not issue it. */
  check(nonce: string): 'good' | 'expired' | 'foreign';
}

/** Milliseconds for which an issued nonce is valid. */
const LIVES_MS = 5 * 60_000;
/** Milliseconds by which the issuing process's clock may be ahead of this process's clock. */
const AHEAD_MS = 60_000;
const FORM = /^(?<head>(?<at>[0-9a-z]{1,10})\.[A-Za-z0-9_-]{22})\.(?<mac>[A-Za-z0-9_-]{43})$/;

/** Issues nonces under the first key and accepts nonces under any key. `keys` must not be empty. */
export function createNonces(keys: readonly KeyObject[], now: () => number = Date.now): Nonces {
  const [first] = keys;
  if (first === undefined) throw new Error('nonces cannot be issued: no key is set');
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
