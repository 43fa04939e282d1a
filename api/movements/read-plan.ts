/** GET /movements/{movement_id}/plan */
import type { Requester } from '../../domain/commands/context.ts';
import { canonicalPlan } from '../../domain/plan/compile.ts';
import { sha256Hex } from '../../platform/hash.ts';
import { readPlan } from '../../store/movement-reads.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { TextReply } from '../http/route.ts';
import { visibleMovement } from '../auth/visible.ts';

/**
 * Returns the compiled plan in its canonical form, byte for byte what is hashed, never redacted:
 * the approver reads exactly what the hash covers. A stored plan that no longer matches its hash
 * was tampered with and is refused.
 */
export async function readCompiledPlan(
  input: { readonly params: { readonly movement_id: string }; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<TextReply> {
  const { movement_id, compiled_plan_hash } = await visibleMovement(
    input.params.movement_id,
    input.requester,
    deps,
  );
  const plan = await readPlan(deps.db, movement_id);
  const text = plan === null ? '' : canonicalPlan(plan);
  if (sha256Hex(text) !== compiled_plan_hash)
    throw new Error(`the stored plan of movement ${movement_id} does not match its stored hash`);
  return { status: 200, type: 'application/json', text };
}
