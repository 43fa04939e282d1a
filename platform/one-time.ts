/**
 * Random texts that are issued once and stored as their hash (codes of enrolment links, sessions),
 * and the fingerprint by which people compare an enrolled key.
 */
import { createHash, createHmac, randomBytes, type KeyObject } from 'node:crypto';

/** Form of a {@link newToken}: 256 random bits. */
export const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Returns 256 random bits in base64url. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 of the token. The token is random, so a slower hash is not needed. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Crockford's digits: no digit looks like another. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const FINGERPRINT_DIGITS = 16;

/**
 * Returns the fingerprint that two people compare: four groups of four digits, from the first 80
 * bits of an HMAC with the secret as its key. The fingerprint does not reveal the secret. Every
 * holder of the key computes the same, even if the key cannot be exported.
 */
export function keyFingerprint(secret: string | KeyObject, operator: string): string {
  const mac = createHmac('sha256', secret)
    .update(`SVC-DASHBOARD-FINGERPRINT\n${operator}`, 'utf8')
    .digest();
  return groupsOf(mac);
}

/** Returns the first 80 bits of a hash as four groups of four digits. */
export function groupsOf(hash: Buffer): string {
  const digits = Array.from({ length: FINGERPRINT_DIGITS }, (_, index) => {
    const bit = index * 5;
    const pair = hash.readUInt16BE(bit >> 3);
    return DIGITS[(pair >> (11 - (bit & 7))) & 31] ?? '';
  }).join('');
  return (digits.match(/.{4}/g) ?? []).join('-');
}

/** Returns a typed fingerprint in the form of {@link keyFingerprint}; null for any other text. */
export function readFingerprint(text: string): string | null {
  const digits = text.toUpperCase().replace(/[\s-]/g, '');
  if (digits.length !== FINGERPRINT_DIGITS || [...digits].some((digit) => !DIGITS.includes(digit)))
    return null;
  return (digits.match(/.{4}/g) ?? []).join('-');
}
