/** Computes the plan hash at the approver, who then need not trust the hash of the service. */
import { ownBytes, sha256, utf8 } from './bytes.ts';

/**
 * Returns the SHA-256, in lowercase hex, of the unchanged bytes of `GET movements/{id}/plan`. Read
 * that text and compare this hash with `compiled_plan_hash`: then you approve what you read.
 */
export function planHash(plan: string | Uint8Array): Promise<string> {
  return sha256(typeof plan === 'string' ? utf8(plan) : ownBytes(plan));
}
