/** The commands on movements: what each does, and when the command is refused. */
import type { z } from 'zod';
import {
  acknowledge as acknowledgement,
  acknowledgeable,
  namedOf,
  type Acknowledgeable,
} from '../../domain/commands/acknowledge.ts';
import {
  approve as approval,
  bindingsOf,
  recordApproval,
  reject as rejection,
  withdrawApproval as withdrawal,
} from '../../domain/commands/approval.ts';
import {
  CANCELLABLE,
  cancelTransaction as replacement,
} from '../../domain/commands/cancel-transaction.ts';
import { cancel as cancellation, isCancellable } from '../../domain/commands/cancel.ts';
import type { NamedNode } from '../../domain/commands/named-node.ts';
import { resume as resumeTransition, resumableNode } from '../../domain/commands/resume.ts';
import { retry as retryTransition, retryableNode } from '../../domain/commands/retry.ts';
import { ServiceError } from '../../domain/errors.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import type { MovementSnapshot } from '../../domain/snapshot.ts';
import { ACTION_STATES } from '../../domain/states/movement.ts';
import type { NodeRef } from '../../domain/transition.ts';
import { idTime } from '../../platform/ids.ts';
import { decideApproval, withdrawApproval as withdraw } from '../../store/approvals.ts';
import { readResetAllowances } from '../../store/allowances.ts';
import { readAttention } from '../../store/attention.ts';
import { evidenceOf } from '../approvals/evidence.ts';
import { visibleMovement } from '../auth/visible.ts';
import { observeApproval } from '../operations/request-metrics.ts';
import { invalidState, refuseOther, verb } from './act.ts';
import { missingBindings } from './missing-bindings.ts';
import { wrongNode } from './resolve.ts';
import type { AcknowledgeBody, approveBody, CancelTransactionBody, rejectBody } from './schema.ts';

const approving = verb<z.output<typeof approveBody>>(
  'approve',
  ({ body, requester }, deps) =>
    (snapshot) => {
      const bindings = missingBindings(bindingsOf(snapshot, rootNodes(snapshot.plan)), deps);
      if (bindings.length > 0)
        throw new ServiceError('binding_unavailable', { context: { bindings } });
      return approval(snapshot, body, requester);
    },
  ({ params: { movement_id }, body, requester }, deps) =>
    async (approve, db) =>
      decideApproval(db, {
        identity: requester.caller.client_id,
        key_id: requester.caller.key_id,
        reason: body.reason ?? null,
        evidence: await evidenceOf(
          { kind: 'movement', id: movement_id, hash: body.compiled_plan_hash },
          body.assertion,
          requester,
          deps,
        ),
        request_id: requester.request_id,
        approve,
        record: recordApproval(movement_id, body, requester),
      }),
);

/**
 * Approves the plan with that hash, if executors and signers of its first nodes are available.
 * Under approval rules the approval is recorded, and the last that is needed approves.
 */
export const approve: typeof approving = async (request, deps) => {
  const reply = await approving(request, deps);
  // The id holds the creation time, so the metric needs no statement.
  if (reply.body.approvals === undefined)
    observeApproval(Date.now() - idTime(request.params.movement_id));
  return reply;
};

/** Withdraws the caller's own approval of a movement that waits for further approvals. */
export const withdrawApproval = verb(
  'withdraw_approval',
  async ({ params: { movement_id }, requester }, deps) => {
    const { compiled_plan_hash } = await visibleMovement(movement_id, requester, deps);
    return () => withdrawal(movement_id, compiled_plan_hash, requester);
  },
  ({ requester: { caller, request_id } }) =>
    (record, db) =>
      withdraw(db, { identity: caller.client_id, key_id: caller.key_id, request_id, record }),
);

/** Rejects a movement that waits for its approval. An empty reason counts as absent. */
export const reject = verb<z.output<typeof rejectBody>>(
  'reject',
  ({ body, requester }) =>
    ({ movement_id }) =>
      rejection(
        movement_id,
        { ...body, reason: body.reason === '' ? undefined : body.reason },
        requester,
      ),
);

/** Releases a manual gate, or starts observing an UNKNOWN node again. */
export const resume = verb<NamedNode>('resume', ({ body, requester }) => (snapshot) => {
  refuseOther(body, resumableNode(snapshot));
  const transition = resumeTransition(snapshot, requester);
  if (transition === null) throw invalidState('resume', snapshot.state);
  return transition;
});

/**
 * Queues the oldest FAILED or UNKNOWN node again. If an allowance that the node needs was reset,
 * the node of that allowance runs again first.
 */
export const retry = verb<NamedNode>('retry', async ({ params, body, requester }, { db }) => {
  const resets = await readResetAllowances(db, params.movement_id);
  return (snapshot) => {
    const { movement_id, state } = snapshot;
    refuseOther(body, retryableNode(snapshot));
    const transition = retryTransition(snapshot, requester, resets);
    if (transition !== null) return transition;
    // A cancelled movement may retry only a failed compensation; without one, the state is the
    // reason for the refusal.
    if (state === 'CANCELLED') throw invalidState('retry', state);
    throw new ServiceError('no_retryable_node', { context: { movement_id, current_state: state } });
  };
});

/** Stops what has not started; nodes that have started run to their proven end. */
export const cancel = verb('cancel', ({ requester }) => (snapshot) => {
  const { movement_id } = snapshot;
  if (!isCancellable(snapshot))
    throw new ServiceError('no_on_cancel_edge', { context: { movement_id } });
  assertAskable(snapshot);
  return cancellation(snapshot, requester);
});

/**
 * Throws for an unapproved movement whose send a restored database may have forgotten. Cancel keeps
 * such nodes so that the send is looked up, and a look-up happens only in an approved movement.
 */
function assertAskable({ movement_id, state, nodes }: MovementSnapshot): void {
  const unasked = nodes.filter(({ recover_first }) => recover_first);
  if (state !== 'PENDING_APPROVAL' || unasked.length === 0) return;
  throw new ServiceError('invalid_state', {
    message:
      "The restored database may lack this movement's approval and its sends. Approve it while the cutover mode is frozen, so that its sends are looked up and nothing new is sent, and then cancel it. If it was never approved, reject it.",
    context: {
      movement_id,
      current_state: state,
      allowed_states: ACTION_STATES.cancel.filter((each) => each !== state),
      nodes: unasked.map(({ node_key }) => node_key),
    },
  });
}

/**
 * Takes a failure, or a late landing, out of attention after a person has dealt with it. What came
 * after that person had looked stays in attention.
 */
export const acknowledge = verb<AcknowledgeBody>(
  'acknowledge',
  ({ body, requester }, { db }) =>
    async (snapshot) => {
      const needs = await readAttention(db, snapshot.movement_id);
      const open = acknowledgeable(snapshot, needs);
      const [first] = open;
      if (first === undefined) throw nothingOpen(snapshot);
      const named = namedOf(body, open);
      if (named === undefined) throw otherReason(first);
      return acknowledgement(snapshot, named, { reason: body.reason, needs }, requester);
    },
);

function nothingOpen({ state, acknowledged }: MovementSnapshot): ServiceError {
  return new ServiceError('invalid_state', {
    message:
      acknowledged === true
        ? 'This failure is acknowledged already; the timeline says by whom and why.'
        : `Nothing of this movement in ${state} waits for an acknowledgement.`,
    context: { current_state: state, allowed_states: [] },
  });
}

function otherReason({ attention_reason, node_key }: Acknowledgeable): ServiceError {
  return new ServiceError('node_differs', {
    message: `What may be acknowledged is ${attention_reason}${node_key === undefined ? '' : ` of ${node_key}`}. Look at that, and send it as attention_reason.`,
    context: { attention_reason, ...(node_key === undefined ? {} : { node_key }) },
  });
}

/** Makes the node's run sign a zero-value transaction with the nonce of the node's payment. */
export const cancelTransaction = verb<CancelTransactionBody, NodeRef>(
  'cancel_transaction',
  ({ params: { node_key }, body, requester }) =>
    (snapshot) =>
      replacement(snapshot, { node_key, ...body }, requester) ??
      wrongNode(snapshot, { node_key, action: 'cancel-transaction', allowed: CANCELLABLE }),
);
