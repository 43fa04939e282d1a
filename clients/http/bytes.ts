/** Text, bytes, hex and hashes, only with functions that all browsers and Node have. */
import { ClientUsageError } from './errors.ts';

/** Bytes whose memory is not shared with another thread, as WebCrypto requires. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** An HMAC key of WebCrypto, in the type of Node or of the browser. */
export type HmacKey = Parameters<Subtle['sign']>[1];
type Subtle = typeof globalThis.crypto.subtle;

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;

/**
 * Returns WebCrypto's `subtle`.
 *
 * @throws ClientUsageError on a page over plain http, which has no WebCrypto.
 */
export function subtle(): Subtle {
  // On a page over plain http `crypto` has no `subtle`; the types are wrong there.
  const found: Subtle | undefined = globalThis.crypto?.subtle;
  if (found === undefined)
    throw new ClientUsageError(
      'WebCrypto is missing here: a page has it on https and on localhost alone.',
    );
  return found;
}

/** Encodes text as UTF-8 bytes. */
export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

/** Returns a copy of the bytes that no other code can change. */
export function ownBytes(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes);
}

/** Returns the bytes as lowercase hex. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the SHA-256 of the bytes in lowercase hex. */
export async function sha256(bytes: Bytes): Promise<string> {
  return hex(new Uint8Array(await subtle().digest('SHA-256', bytes)));
}

/** Imports the bytes as an HMAC key that cannot be exported. */
export function importHmacKey(
  bytes: Bytes,
  usages: readonly ('sign' | 'verify')[],
): Promise<HmacKey> {
  return subtle().importKey('raw', bytes, HMAC, false, [...usages]);
}

/** Returns `count` random bytes in hex. */
export function randomHex(count: number): string {
  return hex(globalThis.crypto.getRandomValues(new Uint8Array(count)));
}
