/** Computes which edges have fired, which never will, and which are still pending. */
import { isSettled } from '../states/node.ts';
import { heldLegs } from './owed.ts';
import { groupBy, inOrder } from './paths.ts';
import type { GraphEdge } from './types.ts';
import type { WalkEdge, WalkInput, WalkNode } from './walk-types.ts';

export type EdgeStatus = 'pending' | 'fired' | 'dead';

export interface SettleInput extends Omit<WalkInput, 'state'> {
  readonly cancelled: boolean;
}

export interface Settled {
  readonly statuses: Map<WalkEdge, EdgeStatus>;
  /** BLOCKED nodes that became unreachable in the present branch, in the graph's order. */
  readonly unreachable: readonly string[];
  /** BLOCKED second legs whose funds are or may be in transit, and that no path leads to now. */
  readonly stranded: readonly string[];
}

/** Returns the targets of on_cancel edges: the only branch that continues after a cancel. */
export function onCancelTargets(
  edges: readonly Pick<GraphEdge, 'edge_type' | 'to'>[],
): ReadonlySet<string> {
  return new Set(edges.filter((edge) => edge.edge_type === 'on_cancel').map((edge) => edge.to));
}

/** Returns the status of every edge; see {@link settleGraph}. */
export function settleEdges(input: SettleInput): Map<WalkEdge, EdgeStatus> {
  return settleGraph(input).statuses;
}

/**
 * Settles every edge and finds the unreachable nodes. For the nodes behind it, an unreachable node
 * counts as skipped. In the main branch on_cancel edges are always `dead`, so a node that only a
 * cancel leads to is unreachable there. After a cancel only on_cancel edges count, and every other
 * edge is dead. A root is always reachable in the main branch. A second leg that would be
 * unreachable although its funds are or may be in transit is `stranded` instead.
 */
export function settleGraph(input: SettleInput): Settled {
  const all = settleHolding(input, new Set());
  if (input.skips_legs === true && !input.cancelled) return all;
  const held = heldLegs(input, new Set(all.unreachable));
  return held.size === 0 ? all : settleHolding(input, held);
}

/** Settles the graph in one pass along it; no node of `held` counts as unreachable. */
function settleHolding(input: SettleInput, held: ReadonlySet<string>): Settled {
  const into = groupBy(input.edges, (edge) => edge.to);
  const out = groupBy(input.edges, (edge) => edge.from);
  const statuses = new Map<WalkEdge, EdgeStatus>();
  const unreachable: string[] = [];
  const stranded: string[] = [];
  const nodes = new Map(input.nodes.map((node) => [node.node_key, node]));
  for (const key of inOrder([...nodes.keys()], out)) {
    const node = nodes.get(key);
    if (node === undefined) continue;
    const incoming = into.get(node.node_key) ?? [];
    const cut = node.state === 'BLOCKED' && isOutOfReach(node, incoming, statuses, input.cancelled);
    const lost = cut && !held.has(node.node_key);
    if (cut) (lost ? unreachable : stranded).push(node.node_key);
    const asFired = input.cancelled || input.skips_legs === true;
    const way = asFired ? 'fired' : wayOnFrom(node, incoming, statuses);
    const siblings = out.get(node.node_key) ?? [];
    const source: WalkNode = lost ? { ...node, state: 'SKIPPED' } : node;
    for (const edge of siblings) {
      const status = statusOf(edge, source, siblings, input.cancelled);
      statuses.set(edge, status === 'fired' ? way : status);
    }
  }
  return { statuses, unreachable, stranded };
}

/**
 * Returns what an edge that the node's outcome fires comes to. A second leg may run although the
 * plan has not led to it, because its funds are in transit. What waits for its success then waits
 * until the plan leads to the leg, and never starts if it does not: the plan may have paid in
 * another way.
 */
function wayOnFrom(
  node: WalkNode,
  incoming: readonly WalkEdge[],
  statuses: ReadonlyMap<WalkEdge, EdgeStatus>,
): EdgeStatus {
  const found = incoming.map((edge) => statuses.get(edge) ?? 'pending');
  if (node.brings == null || node.state !== 'COMPLETED') return 'fired';
  if (found.length === 0 || found.includes('fired')) return 'fired';
  return found.includes('pending') ? 'pending' : 'dead';
}

/**
 * Returns whether the node has become unreachable. A cancelled movement cannot be resumed, so
 * after a cancel a manual gate is unreachable too.
 */
function isOutOfReach(
  node: WalkNode,
  incoming: readonly WalkEdge[],
  statuses: ReadonlyMap<WalkEdge, EdgeStatus>,
  cancelled: boolean,
): boolean {
  if (cancelled && node.node_kind === 'manual_gate') return true;
  return (
    (cancelled || incoming.length > 0) && incoming.every((edge) => statuses.get(edge) === 'dead')
  );
}

function statusOf(
  edge: WalkEdge,
  source: WalkNode,
  siblings: readonly WalkEdge[],
  cancelled: boolean,
): EdgeStatus {
  if ((edge.edge_type === 'on_cancel') !== cancelled) return 'dead';
  if (!isSettled(source.state)) return 'pending';
  return triggers(edge, source, siblings) && wins(edge, siblings) ? 'fired' : 'dead';
}

/**
 * Returns whether the source's outcome is the one that this edge waits for, whatever its condition.
 * A completed source also triggers on_cancel: a cancel undoes the effect that landed. `siblings`
 * are all edges that leave the source.
 */
export function triggers(
  edge: Pick<GraphEdge, 'edge_type'>,
  source: Pick<WalkNode, 'state' | 'resumed' | 'timed_out' | 'ended_by_stop'>,
  siblings: readonly Pick<GraphEdge, 'edge_type'>[],
): boolean {
  if (source.state === 'COMPLETED') {
    const { edge_type: type } = edge;
    return (
      type === 'on_success' ||
      type === 'on_cancel' ||
      (type === 'on_manual_resume' && source.resumed)
    );
  }
  if (source.state !== 'FAILED' || source.ended_by_stop === true) return false;
  const byTimeout = source.timed_out && siblings.some((other) => other.edge_type === 'on_timeout');
  return edge.edge_type === (byTimeout ? 'on_timeout' : 'on_failure');
}

/**
 * Returns whether the edge has the highest priority among the source's edges of this type whose
 * condition holds. Edges of equal priority fire together.
 */
function wins(edge: WalkEdge, siblings: readonly WalkEdge[]): boolean {
  if (!holds(edge)) return false;
  return !siblings.some(
    (other) => other.edge_type === edge.edge_type && other.priority > edge.priority && holds(other),
  );
}

function holds(edge: WalkEdge): boolean {
  return edge.condition_expr === null || edge.condition === true;
}
