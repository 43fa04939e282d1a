/** Bytes as base64url text without padding, the form in which the API takes and returns them. */
import type { Bytes } from '../../clients/http/bytes.ts';

/** Returns the bytes as base64url text. */
export function toBase64url(bytes: ArrayBuffer | Uint8Array): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** Returns the bytes of a base64url text. Throws for any other text. */
export function fromBase64url(text: string): Bytes {
  const base64 = text.replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}
