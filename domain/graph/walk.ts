/**
 * Computes what a movement does next: a pure function of graph, node states and condition results.
 * The workflow calls it after every change and writes the result; the API calls it to return the
 * same frontier. It uses no clock, no I/O and no randomness.
 */
import type { MovementState } from '../states/movement.ts';
import { isSettled, type NodeState } from '../states/node.ts';
import {
  onCancelTargets,
  settleEdges,
  settleGraph,
  type EdgeStatus,
  type Settled,
} from './edges.ts';
import { groupBy } from './paths.ts';
import { failureOf } from './failure.ts';
import { sentBefore } from './owed.ts';
import { keyOf, type WalkEdge, type WalkInput, type WalkNode } from './walk-types.ts';

export interface WalkResult {
  /** BLOCKED nodes that become READY, because their edges have fired. */
  readonly ready: readonly string[];
  /** BLOCKED nodes that became unreachable. */
  readonly skip: readonly string[];
  /**
   * Nodes that need a runner once `ready` is written: all started nodes that are neither settled,
   * UNKNOWN, nor waiting gates.
   */
  readonly run: readonly string[];
  /**
   * The frontier once this result is written: every node that has started and not settled, in plan
   * order.
   */
  readonly frontier: readonly string[];
  /** The movement's state once this result is written. */
  readonly state: MovementState;
  /** Whether nothing is left to do. */
  readonly ended: boolean;
  /** The first unhandled failure; null unless the movement becomes FAILED. */
  readonly failure: { readonly node_key: string; readonly error_code: string } | null;
}

const RUNNING: readonly MovementState[] = [
  'APPROVED',
  'EXECUTING',
  'WAITING_MANUAL_ACTION',
  'MANUAL_INTERVENTION',
];

/**
 * Computes one step. Applying the result and walking again ends after at most as many steps as the
 * graph has nodes.
 */
export function walk(input: WalkInput): WalkResult {
  if (input.state === 'CANCELLED') return walkCancelled(input);
  if (!RUNNING.includes(input.state)) {
    return { ...nothing(input), ended: input.state !== 'PENDING_APPROVAL' };
  }
  return walkMain(input);
}

function walkMain(input: WalkInput): WalkResult {
  const { skip, statuses, stranded } = settleDead(input, false);
  const nodes = withStates(input.nodes, skip, 'SKIPPED');
  const failure = failureOf({ nodes, edges: input.edges, statuses });
  const open = (node: WalkNode): boolean => !isSettled(node.state) && node.state !== 'BLOCKED';
  const satisfied = nodes.filter(
    (node) => node.state === 'BLOCKED' && isSatisfied(node, input.edges, statuses),
  );
  const owed = owedLegs(nodes);
  // Funds in transit over a bridge are delivered even if other nodes have failed or lie between the
  // two legs of the transfer. Without an unhandled failure the plan may still lead to the second
  // leg, which then waits for it.
  const startable =
    failure.unhandled.length === 0
      ? nodes.filter(
          (node) =>
            (owed.has(node.node_key) && stranded.includes(node.node_key)) ||
            (node.node_kind !== 'post_action' && satisfied.includes(node)),
        )
      : nodes.filter(
          (node) =>
            owed.has(node.node_key) ||
            (node.node_kind === 'compensation' && satisfied.includes(node)),
        );
  const mainSettled =
    startable.length === 0 && !nodes.some((node) => open(node) && node.node_kind !== 'post_action');
  const ready = mainSettled
    ? satisfied.filter((node) => node.node_kind === 'post_action')
    : startable;
  const after = withStates(nodes, ready.map(keyOf), 'READY');
  if (after.some(open)) return running(input, after, skip, ready.map(keyOf));
  const leftover = after.filter((node) => node.state === 'BLOCKED').map(keyOf);
  // Failures are judged once more, because no handler can still run.
  const last = withStates(after, leftover, 'SKIPPED');
  const [first] = failureOf({
    nodes: last,
    edges: input.edges,
    statuses: settleEdges({ ...input, nodes: last, cancelled: false }),
  }).unhandled;
  return {
    ready: [],
    skip: [...skip, ...leftover],
    run: [],
    frontier: [],
    // A movement ends from EXECUTING only; from a waiting state it first returns to EXECUTING.
    state: input.state !== 'EXECUTING' ? 'EXECUTING' : first === undefined ? 'COMPLETED' : 'FAILED',
    ended: input.state === 'EXECUTING',
    failure: first ?? null,
  };
}

/**
 * Computes one step after a cancel. Only on_cancel edges count. Nodes in flight run to their proven
 * end, and so do second legs whose first leg was sent.
 */
function walkCancelled(input: WalkInput): WalkResult {
  const { skip, statuses } = settleDead(input, true);
  const nodes = withStates(input.nodes, skip, 'SKIPPED');
  const owed = owedLegs(nodes);
  const ready = nodes
    .filter(
      (node) =>
        owed.has(node.node_key) ||
        (node.state === 'BLOCKED' &&
          incoming(node, input.edges, true).some((e) => statuses.get(e) === 'fired')),
    )
    .map(keyOf);
  const after = withStates(nodes, ready, 'READY');
  const open = after.some((node) => !isSettled(node.state));
  return {
    ready,
    skip,
    run: runnable(after),
    frontier: frontierOf(after),
    state: 'CANCELLED',
    ended: !open,
    failure: null,
  };
}

/** Returns the second legs that have not started and whose first leg was sent. */
function owedLegs(nodes: readonly WalkNode[]): ReadonlySet<string> {
  const states = new Map(nodes.map((node) => [node.node_key, node.state]));
  const owed = nodes.filter(
    (node) => node.state === 'BLOCKED' && sentBefore(node, (key) => states.get(key)) === 'sent',
  );
  return new Set(owed.map(keyOf));
}

function running(
  input: WalkInput,
  after: readonly WalkNode[],
  skip: readonly string[],
  ready: readonly string[],
): WalkResult {
  const waiting = after.some((node) => node.node_kind === 'manual_gate' && node.state === 'READY');
  const unknown = after.some((node) => node.state === 'UNKNOWN');
  const derived = unknown ? 'MANUAL_INTERVENTION' : waiting ? 'WAITING_MANUAL_ACTION' : 'EXECUTING';
  const state = input.state === 'APPROVED' ? 'EXECUTING' : derived;
  return {
    ready,
    skip,
    run: runnable(after),
    frontier: frontierOf(after),
    state,
    ended: false,
    failure: null,
  };
}

function nothing(input: WalkInput): WalkResult {
  return {
    ready: [],
    skip: [],
    run: [],
    frontier: [],
    state: input.state,
    ended: true,
    failure: null,
  };
}

/**
 * Returns the unreachable nodes, the stranded second legs and the edges' statuses. In the main
 * branch a node that a cancel could still reach stays BLOCKED; it is skipped when the movement
 * ends.
 */
function settleDead(
  input: WalkInput,
  cancelled: boolean,
): Omit<Settled, 'unreachable'> & { readonly skip: readonly string[] } {
  const { statuses, unreachable, stranded } = settleGraph({ ...input, cancelled });
  const held = cancelled ? new Set<string>() : onCancelTargets(input.edges);
  return { skip: unreachable.filter((key) => !held.has(key)), statuses, stranded };
}

function incoming(node: WalkNode, edges: readonly WalkEdge[], cancelled: boolean): WalkEdge[] {
  return edges.filter(
    (edge) => edge.to === node.node_key && (edge.edge_type === 'on_cancel') === cancelled,
  );
}

function groups(node: WalkNode, edges: readonly WalkEdge[]): WalkEdge[][] {
  return [...groupBy(incoming(node, edges, false), (edge) => edge.join_key).values()];
}

/**
 * Returns whether some group of incoming edges has all edges settled and at least one fired. Roots
 * have no edges: the approval makes them READY.
 */
function isSatisfied(
  node: WalkNode,
  edges: readonly WalkEdge[],
  statuses: ReadonlyMap<WalkEdge, EdgeStatus>,
): boolean {
  return groups(node, edges).some(
    (group) =>
      group.every((e) => statuses.get(e) !== 'pending') &&
      group.some((e) => statuses.get(e) === 'fired'),
  );
}

function withStates(
  nodes: readonly WalkNode[],
  keys: readonly string[],
  state: NodeState,
): readonly WalkNode[] {
  return keys.length === 0
    ? nodes
    : nodes.map((node) => (keys.includes(node.node_key) ? { ...node, state } : node));
}

function runnable(nodes: readonly WalkNode[]): string[] {
  return nodes
    .filter((node) => ['READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING'].includes(node.state))
    .filter((node) => !(node.node_kind === 'manual_gate' && node.state === 'READY'))
    .map(keyOf);
}

function frontierOf(nodes: readonly WalkNode[]): string[] {
  return nodes.filter((node) => node.state !== 'BLOCKED' && !isSettled(node.state)).map(keyOf);
}
