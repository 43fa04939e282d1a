/** Handles a create whose idempotency key was used before. */
import { ServiceError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { mayMove, type Caller } from '../../domain/roles.ts';
import { readKeyUse, type KeyUse, type ReferenceUse } from '../../store/movement-idempotency.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { readPlan } from '../../store/movement-reads.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { differingFields } from '../http/differences.ts';
import { checkAddresses } from './addresses.ts';
import type { CreateResponse } from './responses.ts';
import { shownNaming } from '../redact.ts';
import { limitsOf, sendsOf } from './review.ts';

/** An idempotency key in its client's scope; without a key (null) a request is never a repeat. */
export interface ScopedKey {
  readonly scope: string;
  readonly key: string | null;
}

/** Returns the movement that used the key, or null. */
export async function keyUseOf(
  { scope, key }: ScopedKey,
  deps: ApiDependencies,
): Promise<KeyUse | null> {
  return key === null ? null : readKeyUse(deps.db, scope, key);
}

/**
 * Returns the conflict with the fields that differ, or null for the request that used the key. A
 * client's operators and agents share its keys: an agent outside the first movement's namespace
 * learns only of the conflict, not the movement's id or which other fields are equal.
 */
export function conflictOf(
  { movement_id, request: first }: KeyUse,
  request: JsonObject,
  caller: Caller,
): ServiceError | null {
  const fields = differingFields(first, request);
  if (fields.length === 0) return null;
  const { template_key } = first;
  const visible = typeof template_key === 'string' && mayMove(caller, template_key);
  return new ServiceError('idempotency_conflict', {
    context: visible ? { movement_id, fields } : { fields: ['template_key'] },
  });
}

/**
 * Returns the refusal of a reference already in use. Only callers who may read the movement that
 * has the reference learn its id.
 */
export function referenceExists(
  { movement_id, holder }: ReferenceUse,
  caller: Caller,
): ServiceError {
  const context = mayMove(caller, holder) ? { movement_id } : {};
  return new ServiceError('external_reference_exists', { context });
}

/** Returns the first movement's current state, or throws the conflict with the differing fields. */
export async function replay(
  used: KeyUse,
  request: JsonObject,
  caller: Caller,
  deps: ApiDependencies,
): Promise<Reply<CreateResponse>> {
  const conflict = conflictOf(used, request, caller);
  if (conflict !== null) throw conflict;
  const [found, plan] = await Promise.all([
    readMovement(deps.db, used.movement_id),
    readPlan(deps.db, used.movement_id),
  ]);
  if (found === null || plan === null)
    throw new Error(`movement ${used.movement_id} has an idempotency key but no row`);
  return {
    status: 200,
    headers: { 'Idempotent-Replayed': 'true' },
    body: {
      movement_id: found.movement_id,
      request_state: found.request_state,
      template: {
        template_id: found.template_id,
        template_key: found.template_key,
        version: found.template_version,
      },
      compiled_plan_hash: found.compiled_plan_hash,
      current_frontier: found.current_frontier,
      approval_status: found.approval_status,
      reservation_status: found.reservation_status,
      auto_approve_result: found.auto_approve_result,
      outflow: found.outflow,
      sends: sendsOf(plan, (await checkAddresses(plan, deps)) ?? []),
      limits: limitsOf(plan),
      ...shownNaming(found, deps.redact),
      expires_at: found.expires_at,
      created_at: found.created_at,
    },
  };
}
