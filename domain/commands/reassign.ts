/**
 * The reassign command: a person moves a payment from the node that it wrongly completed to its own
 * node.
 */
import { arePayments, arrivesAtSamePlace, namesPayments, type HeldClaim } from '../claims.ts';
import { reopened } from '../graph/retry.ts';
import { reachableFrom } from '../graph/paths.ts';
import { walk } from '../graph/walk.ts';
import type { JsonObject } from '../json.ts';
import { add } from '../money.ts';
import { parseAmountSource } from '../plan/amount.ts';
import { SYSTEM_ACTOR, type Actor } from '../roles.ts';
import { toWalk, type MovementSnapshot, type NodeSnapshot } from '../snapshot.ts';
import type { MovementState } from '../states/movement.ts';
import type { NodeState } from '../states/node.ts';
import { NOW, type NodeFields, type NodeRef, type Transition } from '../transition.ts';
import { changeOf, nodeEvent, replace } from './changes.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';
import { resolve } from './resolve.ts';
import { nextAttempt, withoutConditions } from './retry.ts';

export interface Reassignment {
  readonly holder: NodeRef;
  readonly target: NodeRef;
  readonly reason: string;
  readonly evidence: JsonObject;
}

/**
 * Movement states in which a node may wait for its payment again. An ended movement stays ended.
 */
export const REASSIGNABLE: readonly MovementState[] = [
  'EXECUTING',
  'WAITING_MANUAL_ACTION',
  'MANUAL_INTERVENTION',
];
/** States of a node that can be completed with a payment that another node held. */
export const AWAITING: readonly NodeState[] = ['OBSERVING', 'UNKNOWN'];

/** Why a payment cannot be reassigned. */
export type NotReassignable = 'movement_over' | 'no_payment' | 'passed_on' | 'another_place';

export type Reassigned =
  | { readonly released: Transition; readonly taken: Transition }
  | {
      readonly refused: NotReassignable;
      /** Only with `passed_on`: the later nodes that have already started. */
      readonly nodes?: readonly string[];
    };

/** Returns the consequence of the command as a sentence. */
export function waitsAgain(nodeKey: string): string {
  return `${nodeKey} waits for its own payment again, and its payments complete the node that you name. Both changes are made, or neither.`;
}

/**
 * Returns the nodes of a movement whose payment may belong to another node: they claimed a payment,
 * and no later node has started.
 */
export function reassignable(snapshot: MovementSnapshot): readonly NodeSnapshot[] {
  if (!REASSIGNABLE.includes(snapshot.state)) return [];
  return snapshot.nodes.filter(
    (node, at) =>
      node.state === 'COMPLETED' &&
      node.node_kind === 'observe' &&
      namesPayments(snapshot.plan.nodes[at]?.action_type ?? '') &&
      Array.isArray(node.output?.['payments']) &&
      dependants(snapshot, node.node_key).every(isUntouched),
  );
}

/**
 * Returns two transitions, which the caller writes together or not at all. The holder waits for its
 * own payment again; no later node may have started. The target is completed as by a person's
 * `resolve`. The caller has checked the states of both nodes.
 */
export function reassign(
  holding: MovementSnapshot,
  waiting: MovementSnapshot,
  claims: readonly HeldClaim[],
  reassignment: Reassignment,
  requester: Requester,
): Reassigned {
  const { holder, target, reason, evidence } = reassignment;
  const [held, awaited] = [plannedNode(holding, holder), plannedNode(waiting, target)];
  if (!REASSIGNABLE.includes(holding.state)) return { refused: 'movement_over' };
  if (!arePayments(claims, held.planned)) return { refused: 'no_payment' };
  if (!arrivesAtSamePlace(held.planned, awaited.planned)) return { refused: 'another_place' };
  const behind = dependants(holding, holder.node_key);
  const started = behind.filter((node) => !isUntouched(node)).map(({ node_key }) => node_key);
  if (started.length > 0) return { refused: 'passed_on', nodes: started };
  const data = { reason, evidence, payments: claims.map((claim) => ({ ...claim })) };
  const { transition: released, after } = release(holding, held.node, behind, {
    reassignment,
    data,
    requester,
  });
  const before = holding.movement_id === waiting.movement_id ? after : waiting;
  return { released, taken: take(before, reassignment, { claims, data, requester }) };
}

/** What both movements record about the decision and its requester. */
interface Word {
  readonly reassignment: Reassignment;
  readonly data: JsonObject;
  readonly requester: Requester;
}

/**
 * Returns the transition after which the holder waits again. Nodes that the holder's completion
 * made ready or skipped are set back.
 */
function release(
  snapshot: MovementSnapshot,
  holder: NodeSnapshot,
  behind: readonly NodeSnapshot[],
  { reassignment, data, requester }: Word,
): { readonly transition: Transition; readonly after: MovementSnapshot } {
  const { target } = reassignment;
  const ready = behind.filter(({ state }) => state === 'READY');
  const conditions = withoutConditions(snapshot, holder);
  const closed: MovementSnapshot = {
    ...replace(snapshot, [
      { ...holder, state: 'OBSERVING', output: unpaid(holder.output), settled_order: 0 },
      ...ready.map((node) => ({ ...node, state: 'BLOCKED' as const, attempt: node.attempt + 1 })),
    ]),
    conditions: Object.fromEntries(
      Object.entries(snapshot.conditions).filter(([position]) => !(position in conditions)),
    ),
  };
  const reopens = new Set(reopened(toWalk(closed), holder.node_key));
  const back = snapshot.nodes.filter(({ node_key }) => reopens.has(node_key));
  const open = replace(
    closed,
    back.map((node) => ({ ...node, state: 'BLOCKED' as const, settled_order: 0 })),
  );
  const next = walk(toWalk(open));
  const moved = next.state !== snapshot.state;
  const actor: Actor = { ...actorOf(requester), type: 'operator' };
  const transition: Transition = {
    movement_id: snapshot.movement_id,
    from: [snapshot.state],
    ...(moved ? { to: next.state } : {}),
    version: snapshot.version,
    bump: true,
    set: { current_frontier: next.frontier },
    nodes: [
      {
        ...changeOf(holder, ['OBSERVING']),
        releases: true,
        set: { ...WAITS_AGAIN, output: unpaid(holder.output) },
      },
      // The nodes get a new attempt, so that results of earlier phases no longer count.
      ...ready.map((node) => ({
        ...changeOf(node, ['BLOCKED']),
        epoch: node.submit_epoch,
        set: { ...nextAttempt(node), amount: null },
      })),
      ...back.map((node) => ({ ...changeOf(node, ['BLOCKED']), set: { completed_at: null } })),
    ],
    conditions,
    timeline: [
      {
        ...nodeEvent('node_observing', holder, 'OBSERVING', actor, RELEASED),
        data: { ...data, reassigned_to: { ...target } },
      },
      ...[...ready, ...back].map((node) =>
        nodeEvent('node_requeued', node, 'BLOCKED', SYSTEM_ACTOR, WAITS),
      ),
      ...(moved
        ? [
            {
              event_type: 'frontier_advanced',
              message: 'A payment was reassigned',
              actor: SYSTEM_ACTOR,
              from_state: snapshot.state,
              to_state: next.state,
            } as const,
          ]
        : []),
    ],
    ...auditOf(reassignment, data, { requester, movement_id: snapshot.movement_id }),
    command: 'resolve',
  };
  return { transition, after: { ...open, state: next.state, version: snapshot.version + 1 } };
}

const RELEASED = 'Waits for its own payment: a person reassigned the payment that it had';
const WAITS = 'Waits again: the payment of an earlier node was reassigned';

/** Starts the wait again: with the earlier start, the node would time out immediately. */
const WAITS_AGAIN = {
  external_ref: null,
  error_code: null,
  error_message: null,
  error_count: 0,
  unanswered: 0,
  started_at: NOW,
  submitted_at: NOW,
  completed_at: null,
} satisfies NodeFields;

/** Returns the target's completion, as if a person resolved it with these payments. */
function take(
  snapshot: MovementSnapshot,
  reassignment: Reassignment,
  { claims, data, requester }: Omit<Word, 'reassignment'> & { claims: readonly HeldClaim[] },
): Transition {
  const { holder, target, reason, evidence } = reassignment;
  const received_amount = claims.reduce((sum, { amount }) => add(sum, amount), '0');
  const { node } = plannedNode(snapshot, target);
  const passedOn = snapshot.plan.nodes.flatMap(({ config }) => {
    const source = parseAmountSource(config);
    return source.kind === 'node' && source.node_key === node.node_key
      ? [[source.field, received_amount]]
      : [];
  });
  const output: JsonObject = {
    ...node.output,
    ...Object.fromEntries(passedOn),
    received_amount,
    payments: claims.map((claim) => ({ ...claim })),
  };
  // Unlike a resolve, a reassignment does not require an overdue target.
  const resolved = resolve(
    replace(snapshot, [{ ...node, resolvable: true }]),
    {
      node_key: node.node_key,
      outcome: 'completed',
      reason,
      evidence,
      output,
      settle_seconds: 0,
      // No clock is read: the target is an observe node (`arePayments` and `arrivesAtSamePlace`
      // require it), which has no send that could still be under way.
      ahead_seconds: 0,
    },
    requester,
  );
  if (resolved === null) throw new Error('the target cannot be resolved; check its state first');
  return {
    ...resolved,
    nodes: (resolved.nodes ?? []).map(({ claims: _claimed, ...change }) => ({
      ...change,
      takes: holder,
    })),
    timeline: resolved.timeline.map((entry) =>
      entry.event_type === 'node_completed'
        ? { ...entry, message: TAKEN, data: { ...data, reassigned_from: { ...holder } } }
        : entry,
    ),
    ...auditOf(reassignment, data, { requester, movement_id: snapshot.movement_id }),
  };
}

const TAKEN = 'Completed by a person with a payment that another node had';

function auditOf(
  { holder, target, reason }: Reassignment,
  { evidence, payments }: JsonObject,
  { requester, movement_id }: { readonly requester: Requester; readonly movement_id: string },
) {
  const details = { from: { ...holder }, to: { ...target }, evidence, payments } as JsonObject;
  return movementAudit(requester, 'movement.reassign', movement_id, { reason, details });
}

/** Returns all nodes that follow this node, or that take their amount from it. */
function dependants({ plan, nodes }: MovementSnapshot, key: string): readonly NodeSnapshot[] {
  const behind = reachableFrom(plan.edges, [key]);
  return nodes.filter(({ node_key }, at) => {
    const source = parseAmountSource(plan.nodes[at]?.config ?? {});
    return (
      node_key !== key &&
      (behind.has(node_key) || (source.kind === 'node' && source.node_key === key))
    );
  });
}

/**
 * Returns whether a node has certainly sent nothing. A restored database may have lost a send that
 * can still land; that send leaves the node READY with the same attempt, so the submit epoch must
 * be zero and all restore marks must be absent.
 */
function isUntouched(node: NodeSnapshot): boolean {
  const { state, submit_epoch, accepted, recover_first, restored } = node;
  return (
    ['BLOCKED', 'SKIPPED', 'READY'].includes(state) &&
    submit_epoch === 0 &&
    !(accepted || recover_first || restored)
  );
}

/** Returns the node's output without the fields that its payment added. */
function unpaid(output: JsonObject | null): JsonObject | null {
  if (output === null) return null;
  return Object.fromEntries(Object.entries(output).filter(([name]) => !OF_PAYMENTS.includes(name)));
}

/** Output fields that executors write when a payment completes a node. */
const OF_PAYMENTS: readonly string[] = [
  'payments',
  'received_amount',
  'tx_hash',
  'block_number',
  'deposits',
  'network',
];

function plannedNode({ plan, nodes }: MovementSnapshot, { node_key }: NodeRef) {
  const planned = plan.nodes.find((each) => each.node_key === node_key);
  const node = nodes.find((each) => each.node_key === node_key);
  if (planned === undefined || node === undefined)
    throw new Error('the movement has no such node; check that first');
  return { planned, node };
}
