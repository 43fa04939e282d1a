/** Resume, retry and cancel: an operator's hand on a running or failed movement. */
import { isRetryable, reopened } from '../graph/retry.ts';
import { walk } from '../graph/walk.ts';
import { SYSTEM_ACTOR, type Actor } from '../roles.ts';
import { toWalk, type MovementSnapshot, type NodeSnapshot } from '../snapshot.ts';
import { ACTION_STATES } from '../states/movement.ts';
import { IN_FLIGHT_NODE_STATES, isSettled, type NodeState } from '../states/node.ts';
import { NOW, type NodeChange, type TimelineEntry, type Transition } from '../transition.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';
import { holdsOf } from './holds.ts';

/** Clears what the phases of an attempt have recorded, so that a new attempt starts from nothing. */
const FRESH_ATTEMPT = {
  preflight_passed: false,
  prepared_action: null,
  sign_request: null,
  send_not_after: null,
  resumed: false,
  error_count: 0,
  external_ref: null,
  output: null,
  error_code: null,
  error_message: null,
  started_at: null,
  submitted_at: null,
  completed_at: null,
} as const;

/**
 * Releases the oldest waiting gate, or has an UNKNOWN node observed again; then the walk goes on.
 * Null when there is nothing to resume (the caller answers `invalid_state`).
 */
export function resume(snapshot: MovementSnapshot, requester: Requester): Transition | null {
  const actor = actorOf(requester);
  const unknown = oldest(snapshot.nodes.filter((node) => node.state === 'UNKNOWN'));
  const gate = oldest(snapshot.nodes.filter((node) => node.node_kind === 'manual_gate' && node.state === 'READY'));
  const node = snapshot.state === 'MANUAL_INTERVENTION' ? (unknown ?? gate) : (gate ?? unknown);
  if (node === undefined) return null;
  const moved: NodeSnapshot =
    node === unknown
      ? { ...node, state: 'OBSERVING' }
      : { ...node, state: 'COMPLETED', resumed: true, settled_order: Number.MAX_SAFE_INTEGER };
  const after = replace(snapshot, [moved]);
  const next = walk(toWalk({ ...after, state: 'EXECUTING' }));
  const change: NodeChange =
    node === unknown
      ? { ...changeOf(node, ['OBSERVING']), set: { error_code: null, error_message: null, error_count: 0, resumed: true } }
      : { ...changeOf(node, ['COMPLETED']), set: { resumed: true, completed_at: NOW } };
  return {
    movement_id: snapshot.movement_id,
    from: ACTION_STATES.resume,
    to: 'EXECUTING',
    version: snapshot.version,
    bump: true,
    set: { current_frontier: next.frontier },
    nodes: [change, ...next.ready.map((key) => readied(snapshot, key))],
    timeline: [
      {
        event_type: 'request_resumed',
        message: 'Resumed',
        actor,
        node_key: node.node_key,
        from_state: snapshot.state,
        to_state: 'EXECUTING',
      },
      nodeEvent(
        node === unknown ? 'node_observing' : 'node_completed',
        node,
        moved.state,
        actor,
        node === unknown ? 'Observed again' : 'Gate released',
      ),
      ...next.ready.map((key) => readyEvent(snapshot, key)),
    ],
    ...movementAudit(requester, 'movement.resume', snapshot.movement_id, { details: { node_key: node.node_key } }),
    command: 'resume',
  };
}

/**
 * Takes the oldest-updated node that may be retried: FAILED begins a new attempt, UNKNOWN first asks
 * about its earlier send. Null when no node may be.
 */
export function retry(snapshot: MovementSnapshot, requester: Requester): Transition | null {
  const input = toWalk(snapshot);
  const byKey = new Map(input.nodes.map((node) => [node.node_key, node]));
  const node = oldest(
    snapshot.nodes.filter((each) => {
      const walked = byKey.get(each.node_key);
      return walked !== undefined && isRetryable(input, walked);
    }),
  );
  if (node === undefined) return null;
  const failed = node.state === 'FAILED';
  const back = reopened(input, node.node_key);
  const reserve = snapshot.reservation_status === 'released';
  const state = snapshot.state === 'CANCELLED' ? {} : ({ to: 'EXECUTING' } as const);
  return {
    movement_id: snapshot.movement_id,
    from: ACTION_STATES.retry,
    ...(snapshot.state === 'EXECUTING' ? {} : state),
    version: snapshot.version,
    bump: true,
    set: {
      current_frontier: [node.node_key],
      error_code: null,
      error_message: null,
      ended_at: null,
      ...(reserve ? { reservation_status: 'held' } : {}),
    },
    ...(reserve ? { holds: holdsOf(snapshot) } : {}),
    nodes: [
      {
        ...changeOf(node, ['READY']),
        set: failed
          ? { ...FRESH_ATTEMPT, attempt: node.attempt + 1, recover_first: false }
          : { recover_first: true, error_code: null, error_message: null, error_count: 0 },
      },
      ...back.map((key): NodeChange => ({ node_key: key, from: 'SKIPPED', moves: ['BLOCKED'] })),
    ],
    timeline: [
      {
        event_type: 'request_retried',
        message: failed ? 'Retried: a new attempt' : 'Retried: the earlier attempt is asked about first',
        actor: actorOf(requester),
        node_key: node.node_key,
        from_state: snapshot.state,
        to_state: snapshot.state === 'CANCELLED' ? 'CANCELLED' : 'EXECUTING',
      },
      { ...nodeEvent('node_requeued', node, 'READY', SYSTEM_ACTOR, 'Queued again'), attempt: failed ? node.attempt + 1 : node.attempt },
      ...snapshot.nodes
        .filter(({ node_key }) => back.includes(node_key))
        .map((each) => nodeEvent('node_requeued', each, 'BLOCKED', SYSTEM_ACTOR, 'Possible again')),
    ],
    ...movementAudit(requester, 'movement.retry', snapshot.movement_id, { details: { node_key: node.node_key } }),
    command: 'retry',
  };
}

/** Whether the plan can be cancelled at all. */
export function isCancellable(snapshot: MovementSnapshot): boolean {
  return snapshot.plan.edges.some((edge) => edge.edge_type === 'on_cancel');
}

/**
 * To CANCELLED. What has not passed its fence is cancelled at once; what has runs to a proven end, and
 * the nodes behind on_cancel edges stay BLOCKED for the walk to decide about.
 */
export function cancel(snapshot: MovementSnapshot, requester: Requester): Transition {
  const actor = actorOf(requester);
  const compensating = new Set(snapshot.plan.edges.filter((edge) => edge.edge_type === 'on_cancel').map((edge) => edge.to));
  const stopped = snapshot.nodes.filter(
    (node) => (node.state === 'BLOCKED' && !compensating.has(node.node_key)) || (node.state === 'READY' && !node.recover_first),
  );
  const after = replace(
    snapshot,
    stopped.map((node) => ({ ...node, state: 'CANCELLED' })),
  );
  const keeps = spendsOrMaySpend(snapshot);
  return {
    movement_id: snapshot.movement_id,
    from: ACTION_STATES.cancel,
    to: 'CANCELLED',
    version: snapshot.version,
    bump: true,
    set: {
      current_frontier: after.nodes.filter((node) => node.state !== 'BLOCKED' && !isSettled(node.state)).map((node) => node.node_key),
      reservation_status: keeps ? 'held' : 'released',
    },
    ...(keeps ? {} : { end_holds: 'released' }),
    nodes: stopped.map((node) => ({ ...changeOf(node, ['CANCELLED']), set: { completed_at: NOW } })),
    timeline: [
      { event_type: 'request_cancelled', message: 'Cancelled', actor, from_state: snapshot.state, to_state: 'CANCELLED' },
      ...stopped.map((node) => nodeEvent('node_cancelled', node, 'CANCELLED', actor, 'Cancelled before it began')),
    ],
    ...movementAudit(requester, 'movement.cancel', snapshot.movement_id),
    command: 'cancel',
  };
}

/** A side-effect node has completed, or has passed its fence and is not proven unlanded. */
export function spendsOrMaySpend(snapshot: MovementSnapshot): boolean {
  const effects = new Set(snapshot.plan.nodes.filter((node) => node.has_side_effect).map((node) => node.node_key));
  return snapshot.nodes.some(
    (node) =>
      effects.has(node.node_key) &&
      (node.state === 'COMPLETED' || IN_FLIGHT_NODE_STATES.includes(node.state) || (node.state === 'READY' && node.recover_first)),
  );
}

/** The change that readies a BLOCKED node. */
export function readied(snapshot: MovementSnapshot, key: string): NodeChange {
  return { node_key: key, from: 'BLOCKED', moves: ['READY'], attempt: attemptOf(snapshot, key) };
}

/** The timeline entry of a node that became READY. */
export function readyEvent(snapshot: MovementSnapshot, key: string): TimelineEntry {
  return {
    event_type: 'node_ready',
    message: 'Ready to run',
    actor: SYSTEM_ACTOR,
    node_key: key,
    attempt: attemptOf(snapshot, key),
    from_state: 'BLOCKED',
    to_state: 'READY',
  };
}

function attemptOf(snapshot: MovementSnapshot, key: string): number {
  return snapshot.nodes.find((node) => node.node_key === key)?.attempt ?? 1;
}

function changeOf(node: NodeSnapshot, moves: readonly NodeState[]): NodeChange {
  return { node_key: node.node_key, from: node.state, moves, attempt: node.attempt };
}

function nodeEvent(
  event_type: TimelineEntry['event_type'],
  node: NodeSnapshot,
  to: NodeState,
  actor: Actor,
  message: string,
): TimelineEntry {
  return { event_type, message, actor, node_key: node.node_key, attempt: node.attempt, from_state: node.state, to_state: to };
}

function replace(snapshot: MovementSnapshot, changed: readonly NodeSnapshot[]): MovementSnapshot {
  const byKey = new Map(changed.map((node) => [node.node_key, node]));
  return { ...snapshot, nodes: snapshot.nodes.map((node) => byKey.get(node.node_key) ?? node) };
}

function oldest(nodes: readonly NodeSnapshot[]): NodeSnapshot | undefined {
  return [...nodes].sort((a, b) =>
    a.updated_at < b.updated_at ? -1 : a.updated_at > b.updated_at ? 1 : a.node_key < b.node_key ? -1 : 1,
  )[0];
}
