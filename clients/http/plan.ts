/** The hash that is approved, made where it is approved. */
import { ownBytes, sha256, utf8 } from './bytes.ts';

/**
 * SHA-256 in lowercase hex of what `GET movements/{id}/plan` answered, byte for byte. Read that
 * text, compare this with `compiled_plan_hash`, and what you approve is what you read.
 */
export function planHash(plan: string | Uint8Array): Promise<string> {
  return sha256(typeof plan === 'string' ? utf8(plan) : ownBytes(plan));
}
