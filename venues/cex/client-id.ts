/** Makes our own ids, which exchanges store with their records. */
import { createHash } from 'node:crypto';

/**
 * Returns 32 hex digits, always the same for the same key. Exchanges accept different ids; all
 * known exchanges accept these.
 */
export function hashedId(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 32);
}
