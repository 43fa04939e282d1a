/** Computes which edges have fired, which never will, and which are still pending. */
import { isSettled } from '../states/node.ts';
import { isOwed } from './owed.ts';
import { groupBy, inOrder } from './paths.ts';
import type { GraphEdge } from './types.ts';
import type { WalkEdge, WalkNode } from './walk-types.ts';

export type EdgeStatus = 'pending' | 'fired' | 'dead';

export interface SettleInput {
  readonly nodes: readonly WalkNode[];
  readonly edges: readonly WalkEdge[];
  readonly cancelled: boolean;
}

export interface Settled {
  readonly statuses: Map<WalkEdge, EdgeStatus>;
  /** BLOCKED nodes that became unreachable in the present branch, in the graph's order. */
  readonly unreachable: readonly string[];
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
 * Settles every edge and finds the unreachable nodes, in one pass along the graph. For the nodes
 * behind it, an unreachable node counts as skipped. In the main branch on_cancel edges are always
 * `dead`, so a node that only a cancel leads to is unreachable there. After a cancel only on_cancel
 * edges count, and every other edge is dead. A root is always reachable in the main branch.
 */
export function settleGraph(input: SettleInput): Settled {
  const into = groupBy(input.edges, (edge) => edge.to);
  const out = groupBy(input.edges, (edge) => edge.from);
  const statuses = new Map<WalkEdge, EdgeStatus>();
  const unreachable: string[] = [];
  const nodes = new Map(input.nodes.map((node) => [node.node_key, node]));
  for (const key of inOrder([...nodes.keys()], out)) {
    const node = nodes.get(key);
    if (node === undefined) continue;
    const incoming = into.get(node.node_key) ?? [];
    const lost =
      node.state === 'BLOCKED' &&
      !(input.cancelled && isOwed(node, (other) => nodes.get(other)?.state)) &&
      isOutOfReach(node, incoming, statuses, input.cancelled);
    if (lost) unreachable.push(node.node_key);
    const siblings = out.get(node.node_key) ?? [];
    const source: WalkNode = lost ? { ...node, state: 'SKIPPED' } : node;
    for (const edge of siblings)
      statuses.set(edge, statusOf(edge, source, siblings, input.cancelled));
  }
  return { statuses, unreachable };
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
