/**
 * Key, clock and signature of a request, looked at in this order by everything that is signed here.
 */
import { createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';
import { hmacOf } from './canonical.ts';
import { AuthenticationError } from './refusal.ts';

/** An unknown key costs what a known one does, so that time does not reveal which it is. */
const UNKNOWN_KEY = createSecretKey(randomBytes(32));

export interface Signed {
  /** As log and audit name the key. */
  readonly keyId: string;
  /** Null for an unknown key. */
  readonly secret: KeyObject | null;
  /** The canonical string. */
  readonly text: string;
  readonly signature: Buffer;
  /** Epoch seconds as sent. */
  readonly timestamp: string;
}

/** How far a timestamp may be from `now` (milliseconds since the epoch), either way. */
export interface Clock {
  readonly maxSkewSeconds: number;
  readonly now: number;
}

/** Throws an {@link AuthenticationError} unless the request is signed with the key, and lately. */
export function assertSigned(
  { keyId, secret, text, signature, timestamp }: Signed,
  { maxSkewSeconds, now }: Clock,
): void {
  const fits = timingSafeEqual(hmacOf(secret ?? UNKNOWN_KEY, text), signature);
  assertKnown({ keyId, secret, timestamp }, { maxSkewSeconds, now });
  if (!fits) throw new AuthenticationError('signature_mismatch', keyId);
}

/** As the former, of what is known before the body has arrived: the key and the clock. */
export function assertKnown(
  { keyId, secret, timestamp }: Pick<Signed, 'keyId' | 'secret' | 'timestamp'>,
  { maxSkewSeconds, now }: Clock,
): void {
  if (secret === null) throw new AuthenticationError('key_unknown');
  if (Math.abs(Math.floor(now / 1000) - Number(timestamp)) > maxSkewSeconds)
    throw new AuthenticationError('timestamp_out_of_range', keyId);
}
