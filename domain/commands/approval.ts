/** The commands approve and reject, and the expiry, of a movement that waits for its approval. */
import { asJson, type AutoApproveResult } from '../auto-approve/result.ts';
import { rootNodes } from '../graph/shape.ts';
import type { CompiledPlan } from '../plan/types.ts';
import { SYSTEM_ACTOR, type Actor } from '../roles.ts';
import type { MovementSnapshot, NodeSnapshot } from '../snapshot.ts';
import {
  NOW,
  type Approval,
  type MovementFields,
  type TimelineEntry,
  type Transition,
} from '../transition.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/**
 * Returns the executors and signers of the nodes, which must be usable at the approval and again
 * before each send.
 */
export function bindingsOf(
  {
    plan,
    nodes,
  }: {
    readonly plan: Pick<CompiledPlan, 'nodes'>;
    readonly nodes: readonly Pick<NodeSnapshot, 'node_key' | 'signer_key'>[];
  },
  keys: readonly string[],
): {
  readonly executors: readonly string[];
  readonly signers: readonly { readonly signer_key: string }[];
} {
  const planned = plan.nodes.filter((node) => keys.includes(node.node_key));
  const signers = nodes
    .filter((node) => keys.includes(node.node_key))
    .flatMap(({ signer_key }) => signer_key ?? []);
  return {
    executors: [...new Set(planned.map((node) => node.executor_binding.executor_key))],
    signers: [...new Set(signers)].map((signer_key) => ({ signer_key })),
  };
}

/**
 * Returns a person's approval. It records the reviewed plan hash, the person's label and the
 * authenticated key.
 */
export function approve(
  snapshot: MovementSnapshot,
  request: {
    readonly compiled_plan_hash: string;
    readonly approver_id: string;
    readonly reason?: string | undefined;
  },
  requester: Requester,
): Transition {
  const { compiled_plan_hash, approver_id, reason } = request;
  const { key_id } = requester.caller;
  return {
    ...approval(
      snapshot,
      {
        plan_hash: compiled_plan_hash,
        actor: actorOf(requester, approver_id),
        message: 'Approved',
        reason,
        approval: key_id === null ? { by: 'auth_off' } : { by: 'key', name: key_id },
      },
      (set) => ({
        ...set,
        approver_id,
        approved_by: key_id,
      }),
    ),
    ...movementAudit(requester, 'movement.approve', snapshot.movement_id, {
      ...(reason === undefined ? {} : { reason }),
      details: { approver_id },
    }),
  };
}

/**
 * Returns the record of a person's approval while an approval rule needs more of them: the movement
 * goes on waiting.
 */
export function recordApproval(
  movementId: string,
  request: {
    readonly compiled_plan_hash: string;
    readonly approver_id: string;
    readonly reason?: string | undefined;
  },
  requester: Requester,
): Transition {
  const { compiled_plan_hash, approver_id, reason } = request;
  return {
    movement_id: movementId,
    from: ['PENDING_APPROVAL'],
    expiry: 'future',
    plan_hash: compiled_plan_hash,
    timeline: [
      {
        event_type: 'approval_recorded',
        message: 'Approved by one of those who are needed',
        actor: actorOf(requester, approver_id),
        ...(reason === undefined ? {} : { data: { reason } }),
      },
    ],
    ...movementAudit(requester, 'movement.record_approval', movementId, {
      ...(reason === undefined ? {} : { reason }),
      details: { approver_id },
    }),
  };
}

/**
 * Returns the record that a person withdraws an approval while an approval rule needs more of them:
 * the movement goes on waiting.
 */
export function withdrawApproval(
  movementId: string,
  planHash: string,
  requester: Requester,
): Transition {
  return {
    movement_id: movementId,
    from: ['PENDING_APPROVAL'],
    expiry: 'future',
    plan_hash: planHash,
    timeline: [
      {
        event_type: 'approval_withdrawn',
        message: 'Withdrawn by one of those who approved',
        actor: actorOf(requester),
      },
    ],
    ...movementAudit(requester, 'movement.withdraw_approval', movementId),
  };
}

/**
 * Returns an approval by a policy or a template's cap, in the transaction that creates the
 * movement, without a person's name.
 */
export function approveAutomatically(
  snapshot: MovementSnapshot,
  request: { readonly compiled_plan_hash: string; readonly result: AutoApproveResult },
  requester: Requester,
): Transition {
  const { compiled_plan_hash, result } = request;
  const by = {
    plan_hash: compiled_plan_hash,
    actor: SYSTEM_ACTOR,
    message: `Approved automatically: ${result.reason}`,
    approval:
      result.policy_id === undefined
        ? ({ by: 'template_cap', name: snapshot.plan.template.template_key } as const)
        : ({ by: 'policy', name: result.policy_id } as const),
  };
  const approved = approval(snapshot, by);
  const about = {
    action: 'movement.approve',
    entity_type: 'movement',
    entity_key: snapshot.movement_id,
  } as const;
  const details = {
    automatic: true,
    ...(result.policy_id === undefined ? {} : { policy_id: result.policy_id }),
  };
  return {
    ...approved,
    timeline: [autoApproveEvent(result), ...approved.timeline],
    audit: [
      {
        ...about,
        outcome: 'success',
        actor_role: 'system',
        request_id: requester.request_id,
        reason: result.reason,
        details,
      },
    ],
  };
}

/** Returns the timeline entry for the decision whether a person is needed. */
export function autoApproveEvent(result: AutoApproveResult): TimelineEntry {
  const sentence = {
    approved: 'Approved automatically',
    pending: 'Waits for a person',
    dry_run: 'Dry run: waits for a person',
  };
  return {
    event_type: 'auto_approve_evaluated',
    message: `${sentence[result.outcome]}: ${result.reason}`,
    actor: SYSTEM_ACTOR,
    data: asJson(result),
  };
}

/**
 * Returns PENDING_APPROVAL to APPROVED: the root nodes become READY and the reservation is held.
 */
function approval(
  snapshot: MovementSnapshot,
  by: {
    readonly plan_hash: string;
    readonly actor: Actor;
    readonly message: string;
    readonly reason?: string | undefined;
    readonly approval: Approval;
  },
  withNames: (set: MovementFields) => MovementFields = (set) => set,
): Transition {
  const roots = rootNodes(snapshot.plan);
  return {
    movement_id: snapshot.movement_id,
    from: ['PENDING_APPROVAL'],
    to: 'APPROVED',
    expiry: 'future',
    plan_hash: by.plan_hash,
    approval: by.approval,
    bump: true,
    // If the signers have changed since they were read, the version differs and the snapshot is
    // read again.
    version: snapshot.version,
    require: bindingsOf(snapshot, roots),
    set: withNames({
      approval_status: 'approved',
      reservation_status: 'held',
      current_frontier: roots,
    }),
    nodes: roots.map((node_key) => ({ node_key, from: 'BLOCKED', moves: ['READY'] })),
    timeline: [
      {
        event_type: 'request_approved',
        message: by.message,
        actor: by.actor,
        from_state: 'PENDING_APPROVAL',
        to_state: 'APPROVED',
        ...(by.reason === undefined ? {} : { data: { reason: by.reason } }),
      },
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
    command: 'approve',
  };
}

/** Returns the transition from PENDING_APPROVAL to REJECTED. */
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
    ...movementAudit(
      requester,
      'movement.reject',
      movementId,
      request.reason === undefined ? {} : { reason: request.reason },
    ),
    command: 'reject',
  };
}

/**
 * Returns the transition from PENDING_APPROVAL to EXPIRED, allowed once the database's clock has
 * passed `expires_at`.
 */
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
    audit: [
      {
        action: 'movement.expire',
        entity_type: 'movement',
        entity_key: movementId,
        outcome: 'success',
        actor_role: 'system',
      },
    ],
    command: 'wake',
  };
}
