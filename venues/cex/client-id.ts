/** Ids of our own that exchanges keep with their records. */
import { createHash } from 'node:crypto';

/**
 * 32 hex digits, always the same for the same key: exchanges differ in what they take, and all
 * known ones take these.
 */
export function hashedId(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 32);
}
