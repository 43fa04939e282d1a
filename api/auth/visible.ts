/** What a caller may see. For an agent, another agent's movement or template does not exist. */
import type { Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { mayMove, mayReadTemplate, namespaceIn, type Caller } from '../../domain/roles.ts';
import {
  readForApproval,
  readMovement,
  type MovementForApproval,
} from '../../store/movement-detail.ts';
import { readMovementTemplateKey, type MovementDetail } from '../../store/movement-reads.ts';
import { readTemplate, type TemplateDetail } from '../../store/templates.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** Returns the refusal of an entity outside the caller's namespace, with both namespaces. */
export function otherNamespace({ namespace }: Caller, named: string): ServiceError {
  return new ServiceError('agent_namespace_mismatch', {
    context: { namespace: namespace ?? null, requested_namespace: namespaceIn(named) },
  });
}

/** Returns the movement, or throws `movement_not_found`. */
export async function visibleMovement(
  movement_id: string,
  { caller }: Requester,
  { db }: ApiDependencies,
): Promise<MovementDetail> {
  const found = await readMovement(db, movement_id);
  assertSeen(found, movement_id, caller);
  return found;
}

/**
 * Returns the movement, and what the caller needs to approve it if it waits; throws
 * `movement_not_found`.
 */
export async function visibleForApproval(
  movement_id: string,
  { caller }: Requester,
  { db }: ApiDependencies,
): Promise<MovementForApproval> {
  const found = await readForApproval(db, movement_id, caller.client_id);
  const movement = found?.movement ?? null;
  assertSeen(movement, movement_id, caller);
  return { movement, waiting: found?.waiting ?? null };
}

function assertSeen(
  found: MovementDetail | null,
  movement_id: string,
  caller: Caller,
): asserts found is MovementDetail {
  if (found === null || !mayMove(caller, found.template_key))
    throw new ServiceError('movement_not_found', { context: { movement_id } });
}

/**
 * Throws `movement_not_found` unless the caller may see the movement; for routes that read a part
 * of the movement.
 */
export async function assertVisibleMovement(
  movement_id: string,
  { caller }: Requester,
  { db }: ApiDependencies,
): Promise<void> {
  // Other roles see every movement, so no lookup is needed: the route's own read finds a missing
  // movement.
  if (caller.role !== 'agent') return;
  const templateKey = await readMovementTemplateKey(db, movement_id);
  if (templateKey === null || !mayMove(caller, templateKey))
    throw new ServiceError('movement_not_found', { context: { movement_id } });
}

/** Returns the template version, or throws `template_not_found`. */
export async function visibleTemplate(
  template_id: string,
  { caller }: Requester,
  { db }: ApiDependencies,
): Promise<TemplateDetail> {
  const found = await readTemplate(db, template_id);
  if (found === null || !mayReadTemplate(caller, found.template_key)) {
    throw new ServiceError('template_not_found', { context: { template_id } });
  }
  return found;
}
