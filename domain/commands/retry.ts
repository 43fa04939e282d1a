/**
 * The retry command: a failed node runs again; for an UNKNOWN node the earlier send is looked up
 * first.
 */
import { ABANDONED } from '../attention-reasons.ts';
import { add, compare } from '../money.ts';
import { isReservedTemplate } from '../plan/template.ts';
import { resolveAmount } from '../plan/amount.ts';
import { pullsBy } from '../plan/flow.ts';
import { closedAgain, isRetryable, reopened } from '../graph/retry.ts';
import { SYSTEM_ACTOR } from '../roles.ts';
import { toWalk, type MovementSnapshot, type NodeSnapshot } from '../snapshot.ts';
import { ACTION_STATES } from '../states/movement.ts';
import { IN_FLIGHT_NODE_STATES } from '../states/node.ts';
import type { NodeChange, Transition } from '../transition.ts';
import { changeOf, nodeEvent, oldest } from './changes.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/** Clears what the phases of an attempt recorded, so that a new attempt starts with no results. */
const FRESH_ATTEMPT = {
  preflight_passed: false,
  prepared_action: null,
  sign_request: null,
  send_not_after: null,
  resumed: false,
  only_look: false,
  cancel_asked: 0,
  error_count: 0,
  unanswered: 0,
  external_ref: null,
  output: null,
  error_code: null,
  error_message: null,
  started_at: null,
  submitted_at: null,
  completed_at: null,
} as const;

/**
 * After a restore, the new attempt may already have been sent before the restore, so its
 * `send_not_after` stays.
 */
const { send_not_after: _kept, ...LOST_ATTEMPT } = FRESH_ATTEMPT;

/**
 * Returns the fields of a node's new attempt. If a restored database may have forgotten an earlier
 * send, the new attempt looks for it first.
 */
export function nextAttempt({ restored, attempt }: NodeSnapshot) {
  return {
    ...(restored ? LOST_ATTEMPT : FRESH_ATTEMPT),
    attempt: attempt + 1,
    recover_first: restored,
  };
}

/**
 * Returns the node that a retry would choose: of those that may be retried, the one changed the
 * longest time ago; undefined if there is none.
 */
export function retryableNode(snapshot: MovementSnapshot): NodeSnapshot | undefined {
  // A failed top-up is created again instead of retried: other top-ups may have used its balance
  // limit since.
  if (snapshot.state === 'FAILED' && isReservedTemplate(snapshot.plan.template.template_key))
    return undefined;
  const input = toWalk(snapshot);
  const byKey = new Map(input.nodes.map((node) => [node.node_key, node]));
  return oldest(
    snapshot.nodes.filter((each) => {
      const walked = byKey.get(each.node_key);
      return walked !== undefined && isRetryable(input, walked);
    }),
  );
}

/**
 * Returns the transition that retries the chosen node: a FAILED node starts a new attempt, an
 * UNKNOWN node first looks up its earlier send. Null if no node may be retried. If the node pulls
 * funds by an allowance that was reset, the node waits while the allowance's node runs again;
 * `resets` maps the key of the allowance's node to the amount that was left of the allowance.
 */
export function retry(
  snapshot: MovementSnapshot,
  requester: Requester,
  resets: ReadonlyMap<string, string> = new Map(),
): Transition | null {
  const node = retryableNode(snapshot);
  if (node === undefined) return null;
  const input = toWalk(snapshot);
  const byKey = new Map(input.nodes.map((each) => [each.node_key, each]));
  const failed = node.state === 'FAILED';
  const anew = failed ? allowedAnew(snapshot, node, resets) : [];
  const reopens = new Set(reopened(input, node.node_key));
  const back = snapshot.nodes.filter((each) => reopens.has(each.node_key));
  const walked = byKey.get(node.node_key);
  const closes = new Set(walked === undefined ? [] : closedAgain(input, walked));
  const gates = snapshot.nodes.filter((each) => closes.has(each.node_key));
  const reserve = snapshot.reservation_status === 'released';
  const state = snapshot.state === 'CANCELLED' ? {} : ({ to: 'EXECUTING' } as const);
  return {
    movement_id: snapshot.movement_id,
    from: ACTION_STATES.retry,
    ...(snapshot.state === 'EXECUTING' ? {} : state),
    version: snapshot.version,
    bump: true,
    set: {
      current_frontier: anew.length > 0 ? anew.map(({ node_key }) => node_key) : [node.node_key],
      error_code: null,
      error_message: null,
      ended_at: null,
      ...(reserve ? { reservation_status: 'held' } : {}),
    },
    nodes: [
      {
        ...changeOf(node, anew.length > 0 ? ['READY', 'BLOCKED'] : ['READY']),
        set: failed
          ? nextAttempt(node)
          : {
              recover_first: true,
              only_look: false,
              // The database keeps a code that says what the venue has (`is_at_venue`).
              error_code: null,
              error_message: null,
              error_count: 0,
              unanswered: 0,
            },
      },
      ...anew.map((each): NodeChange => ({
        ...changeOf(each, ['READY']),
        set: {
          ...nextAttempt(each),
          amount: stillPulled(snapshot, each.node_key, resets.get(each.node_key) ?? '0'),
        },
      })),
      ...back.map((each): NodeChange => ({
        ...changeOf(each, ['BLOCKED']),
        set: { completed_at: null },
      })),
      ...gates.map((each) => changeOf(each, ['BLOCKED'])),
    ],
    // Results of the earlier outcome must not decide about the edges after the next outcome.
    conditions: withoutConditions(snapshot, node),
    timeline: [
      {
        event_type: 'request_retried',
        message: failed
          ? 'Retried: a new attempt'
          : 'Retried: the earlier attempt is looked up first',
        actor: actorOf(requester),
        node_key: node.node_key,
        from_state: snapshot.state,
        to_state: snapshot.state === 'CANCELLED' ? 'CANCELLED' : 'EXECUTING',
      },
      {
        ...(anew.length > 0
          ? nodeEvent('node_requeued', node, 'BLOCKED', SYSTEM_ACTOR, WAITS)
          : nodeEvent('node_requeued', node, 'READY', SYSTEM_ACTOR, 'Queued again')),
        attempt: failed ? node.attempt + 1 : node.attempt,
      },
      ...anew.map((each) => ({
        ...nodeEvent('node_requeued', each, 'READY', SYSTEM_ACTOR, 'Sets its allowance again'),
        attempt: each.attempt + 1,
      })),
      ...back.map((each) =>
        nodeEvent('node_requeued', each, 'BLOCKED', SYSTEM_ACTOR, 'Reachable again'),
      ),
      ...gates.map((each) =>
        nodeEvent(
          'node_requeued',
          each,
          'BLOCKED',
          SYSTEM_ACTOR,
          'Closed: the node before this gate is retried',
        ),
      ),
    ],
    ...movementAudit(requester, 'movement.retry', snapshot.movement_id, {
      details: { node_key: node.node_key },
    }),
    command: 'retry',
  };
}

const WAITS = 'Waits: its allowance was reset and must be set again first';

/**
 * Returns how much the unsent nodes will still pull by an allowance, at most what was left of it.
 * Nodes in flight do not count: they may have pulled their part before the reset. Nor do abandoned
 * nodes, which are never retried.
 */
function stillPulled({ plan, nodes }: MovementSnapshot, key: string, left: string): string {
  const stored = (of: string) => nodes.find((each) => each.node_key === of);
  const allowance = plan.nodes.find((each) => each.node_key === key);
  if (allowance === undefined) return '0';
  const sum = plan.nodes
    .filter((each) => pullsBy(allowance, each, plan))
    .map((each) => {
      const { state = 'COMPLETED', amount = null, error_code = null } = stored(each.node_key) ?? {};
      if (state === 'COMPLETED' || IN_FLIGHT_NODE_STATES.includes(state)) return '0';
      if (state === 'FAILED' && error_code === ABANDONED) return '0';
      const outputOf = (of: string) => stored(of)?.output ?? null;
      return amount ?? resolveAmount(each.config, plan.intent.amount, outputOf) ?? '0';
    })
    .reduce(add, '0');
  return compare(sum, left) < 0 ? sum : left;
}

/** Returns the completed allowance nodes that this node needs and whose allowance was reset. */
function allowedAnew(
  { plan, nodes }: MovementSnapshot,
  { node_key }: NodeSnapshot,
  resets: ReadonlyMap<string, string>,
): readonly NodeSnapshot[] {
  const pulls = plan.nodes.find((each) => each.node_key === node_key);
  return nodes.filter((each) => {
    const allowance = plan.nodes.find((planned) => planned.node_key === each.node_key);
    return (
      each.state === 'COMPLETED' &&
      resets.has(each.node_key) &&
      allowance !== undefined &&
      pulls !== undefined &&
      pullsBy(allowance, pulls, plan)
    );
  });
}

/** Returns a change that removes the condition results of the node's outgoing edges. */
export function withoutConditions(
  snapshot: MovementSnapshot,
  { node_key }: NodeSnapshot,
): Record<string, null> {
  return Object.fromEntries(
    snapshot.plan.edges.flatMap((edge, position) =>
      edge.from === node_key && edge.condition_expr !== null ? [[String(position), null]] : [],
    ),
  );
}
