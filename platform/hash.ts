import { createHash } from 'node:crypto';

/** Returns the SHA-256 of UTF-8 text or bytes in lowercase hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
