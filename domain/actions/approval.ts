/** Approve, reject and expire: what may happen to a movement that waits for its approval. */
import { rootNodes } from '../graph/shape.ts';
import { SYSTEM_ACTOR } from '../roles.ts';
import type { MovementSnapshot } from '../snapshot.ts';
import { NOW, type Transition } from '../transition.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';
import { holdsOf } from './holds.ts';

/** The executors and signers that nodes are bound to, as an approval and a fence require them. */
export function bindingsOf(
  snapshot: MovementSnapshot,
  keys: readonly string[],
): { readonly executors: readonly string[]; readonly signers: readonly { readonly signer_key: string }[] } {
  const nodes = snapshot.plan.nodes.filter((node) => keys.includes(node.node_key));
  return {
    executors: [...new Set(nodes.map((node) => node.executor_binding.executor_key))],
    signers: [...new Set(nodes.flatMap((node) => (node.signer_binding === null ? [] : [node.signer_binding.signer_key])))].map(
      (signer_key) => ({ signer_key }),
    ),
  };
}

/** PENDING_APPROVAL to APPROVED: the frontier becomes READY and the reservation is held. */
export function approve(
  snapshot: MovementSnapshot,
  request: { readonly compiled_plan_hash: string; readonly approver_id: string },
  requester: Requester,
): Transition {
  const roots = rootNodes(snapshot.plan);
  const actor = actorOf(requester, request.approver_id);
  return {
    movement_id: snapshot.movement_id,
    from: ['PENDING_APPROVAL'],
    to: 'APPROVED',
    expiry: 'future',
    plan_hash: request.compiled_plan_hash,
    bump: true,
    require: bindingsOf(snapshot, roots),
    set: {
      approval_status: 'approved',
      reservation_status: 'held',
      current_frontier: roots,
      approver_id: request.approver_id,
      approved_by: requester.caller.key_id,
    },
    nodes: roots.map((node_key) => ({ node_key, from: 'BLOCKED', moves: ['READY'] })),
    holds: holdsOf(snapshot),
    timeline: [
      { event_type: 'request_approved', message: 'Approved', actor, from_state: 'PENDING_APPROVAL', to_state: 'APPROVED' },
      ...roots.map(
        (node_key) =>
          ({
            event_type: 'node_ready',
            message: 'Ready to run',
            actor: SYSTEM_ACTOR,
            node_key,
            attempt: 1,
            from_state: 'BLOCKED',
            to_state: 'READY',
          }) as const,
      ),
    ],
    ...movementAudit(requester, 'movement.approve', snapshot.movement_id, { details: { approver_id: request.approver_id } }),
    command: 'approve',
  };
}

/** PENDING_APPROVAL to REJECTED. */
export function reject(
  movementId: string,
  request: {
    readonly approver_id?: string | undefined;
    readonly reason?: string | undefined;
    readonly compiled_plan_hash?: string | undefined;
  },
  requester: Requester,
): Transition {
  return {
    movement_id: movementId,
    from: ['PENDING_APPROVAL'],
    to: 'REJECTED',
    bump: true,
    ...(request.compiled_plan_hash === undefined ? {} : { plan_hash: request.compiled_plan_hash }),
    set: {
      approval_status: 'rejected',
      current_frontier: [],
      ended_at: NOW,
      ...(request.approver_id === undefined ? {} : { approver_id: request.approver_id }),
    },
    timeline: [
      {
        event_type: 'request_rejected',
        message: request.reason === undefined ? 'Rejected' : `Rejected: ${request.reason}`,
        actor: actorOf(requester, request.approver_id),
        from_state: 'PENDING_APPROVAL',
        to_state: 'REJECTED',
        ...(request.reason === undefined ? {} : { data: { reason: request.reason } }),
      },
    ],
    ...movementAudit(requester, 'movement.reject', movementId, request.reason === undefined ? {} : { reason: request.reason }),
    command: 'reject',
  };
}

/** PENDING_APPROVAL to EXPIRED, once the database's clock has passed `expires_at`. */
export function expire(movementId: string): Transition {
  return {
    movement_id: movementId,
    from: ['PENDING_APPROVAL'],
    to: 'EXPIRED',
    expiry: 'past',
    bump: true,
    set: { approval_status: 'expired', current_frontier: [], ended_at: NOW },
    timeline: [
      {
        event_type: 'request_expired',
        message: 'The approval time passed',
        actor: SYSTEM_ACTOR,
        from_state: 'PENDING_APPROVAL',
        to_state: 'EXPIRED',
      },
    ],
    audit: [{ action: 'movement.expire', entity_type: 'movement', entity_key: movementId, outcome: 'success', actor_role: 'system' }],
    command: 'wake',
  };
}
