/** Text, bytes, hex, hashes, by what every browser and Node have. */
import { ClientUsageError } from './errors.ts';

/** Bytes over memory of their own, as WebCrypto takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** An HMAC key of WebCrypto, whichever of Node's and the browser's types is there. */
export type HmacKey = Parameters<Subtle['sign']>[1];
type Subtle = typeof globalThis.crypto.subtle;

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;

/** @throws ClientUsageError on a page that browsers do not trust, which has no WebCrypto. */
export function subtle(): Subtle {
  // A page over plain http has `crypto` without `subtle`, whatever the types say.
  const found: Subtle | undefined = globalThis.crypto?.subtle;
  if (found === undefined)
    throw new ClientUsageError(
      'WebCrypto is missing here: a page has it on https and on localhost alone.',
    );
  return found;
}

/** UTF-8. */
export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

/** A copy of the bytes, so that no other code can change them. */
export function ownBytes(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes);
}

/** Lowercase hex. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** SHA-256 in lowercase hex. */
export async function sha256(bytes: Bytes): Promise<string> {
  return hex(new Uint8Array(await subtle().digest('SHA-256', bytes)));
}

/** A key over these bytes that can never be read again. */
export function importHmacKey(
  bytes: Bytes,
  usages: readonly ('sign' | 'verify')[],
): Promise<HmacKey> {
  return subtle().importKey('raw', bytes, HMAC, false, [...usages]);
}

/** So many random bytes in hex. */
export function randomHex(count: number): string {
  return hex(globalThis.crypto.getRandomValues(new Uint8Array(count)));
}
