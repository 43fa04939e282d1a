/**
 * Random texts that are handed out once and kept as their hash: codes of enrolment links, sessions.
 * And what people compare an enrolled key by.
 */
import { createHash, createHmac, randomBytes, type KeyObject } from 'node:crypto';

/** 256 random bits, as {@link newToken} writes them. */
export const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits in base64url. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 of the text. It is random, so no slower hash would protect it better. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Crockford's digits: none is taken for another one. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const FINGERPRINT_DIGITS = 16;

/**
 * What two people compare: four groups of four digits, from the first 80 bits of an HMAC with the
 * secret as its key, which lead nowhere back. Whoever holds the key, also one that cannot be
 * exported, computes the same.
 */
export function keyFingerprint(secret: string | KeyObject, operator: string): string {
  const mac = createHmac('sha256', secret)
    .update(`SVC-DASHBOARD-FINGERPRINT\n${operator}`, 'utf8')
    .digest();
  const digits = Array.from({ length: FINGERPRINT_DIGITS }, (_, index) => {
    const bit = index * 5;
    const pair = mac.readUInt16BE(bit >> 3);
    return DIGITS[(pair >> (11 - (bit & 7))) & 31] ?? '';
  }).join('');
  return (digits.match(/.{4}/g) ?? []).join('-');
}

/** A fingerprint as it was typed, in the form of {@link keyFingerprint}; null when it is none. */
export function readFingerprint(text: string): string | null {
  const digits = text.toUpperCase().replace(/[\s-]/g, '');
  if (digits.length !== FINGERPRINT_DIGITS || [...digits].some((digit) => !DIGITS.includes(digit)))
    return null;
  return (digits.match(/.{4}/g) ?? []).join('-');
}
