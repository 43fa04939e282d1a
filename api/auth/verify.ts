/** Checks key, clock and signature, in this order, for every kind of signed request. */
import { createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';
import { hmacOf } from './canonical.ts';
import { AuthenticationError } from './refusal.ts';

/** Checking an unknown key takes as long as a known key, so that time reveals nothing. */
const UNKNOWN_KEY = createSecretKey(randomBytes(32));

export interface Signed {
  /** The key's name in log and audit. */
  readonly keyId: string;
  /** Null for an unknown key. */
  readonly secret: KeyObject | null;
  /** The canonical string. */
  readonly text: string;
  readonly signature: Buffer;
  /** Epoch seconds as sent. */
  readonly timestamp: string;
}

/** Maximum skew of a timestamp from `now` (milliseconds since the epoch), before or after. */
export interface Clock {
  readonly maxSkewSeconds: number;
  readonly now: number;
}

/**
 * Throws an {@link AuthenticationError} unless the request is signed with the key and its timestamp
 * is recent.
 */
export function assertSigned(
  { keyId, secret, text, signature, timestamp }: Signed,
  { maxSkewSeconds, now }: Clock,
): void {
  const fits = timingSafeEqual(hmacOf(secret ?? UNKNOWN_KEY, text), signature);
  assertKnown({ keyId, secret, timestamp }, { maxSkewSeconds, now });
  if (!fits) throw new AuthenticationError('signature_mismatch', keyId);
}

/**
 * Throws an {@link AuthenticationError} for an unknown key or an old timestamp. Both are known
 * before the body has arrived.
 */
export function assertKnown(
  { keyId, secret, timestamp }: Pick<Signed, 'keyId' | 'secret' | 'timestamp'>,
  { maxSkewSeconds, now }: Clock,
): void {
  if (secret === null) throw new AuthenticationError('key_unknown');
  if (Math.abs(Math.floor(now / 1000) - Number(timestamp)) > maxSkewSeconds)
    throw new AuthenticationError('timestamp_out_of_range', keyId);
}
