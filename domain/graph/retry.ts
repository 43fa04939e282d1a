/** Which node an operator's retry takes, and what becomes possible again because of it. */
import { settleEdges } from './edges.ts';
import { failureTargets } from './failure.ts';
import type { WalkInput, WalkNode } from './walk-types.ts';
import { walk } from './walk.ts';

/**
 * Whether a node may be retried: UNKNOWN always; FAILED while its failure path has not begun. In a
 * CANCELLED movement only a compensation (or an UNKNOWN node) can be.
 */
export function isRetryable(input: WalkInput, node: WalkNode): boolean {
  if (node.state === 'UNKNOWN') return true;
  if (node.state !== 'FAILED') return false;
  const cancelled = input.state === 'CANCELLED';
  if (cancelled)
    return input.edges.some((edge) => edge.to === node.node_key && edge.edge_type === 'on_cancel');
  const statuses = settleEdges({ nodes: input.nodes, edges: input.edges, cancelled });
  const byKey = new Map(input.nodes.map((each) => [each.node_key, each]));
  const begun = failureTargets(node, byKey, { edges: input.edges, statuses });
  return begun.every(
    (target) =>
      target.state === 'BLOCKED' || target.state === 'SKIPPED' || target.state === 'CANCELLED',
  );
}

/**
 * The SKIPPED nodes that are no longer dead once `retried` runs again: those the walk would not
 * skip anew if every skipped node were BLOCKED.
 */
export function reopened(input: WalkInput, retried: string): readonly string[] {
  const nodes = input.nodes.map((node): WalkNode => {
    if (node.node_key === retried)
      return {
        ...node,
        state: 'READY',
        resumed: false,
        timed_out: false,
        error_code: null,
        settled_order: 0,
      };
    return node.state === 'SKIPPED' ? { ...node, state: 'BLOCKED' } : node;
  });
  const state = input.state === 'CANCELLED' ? 'CANCELLED' : 'EXECUTING';
  const still = new Set(walk({ ...input, state, nodes }).skip);
  return input.nodes
    .filter((node) => node.state === 'SKIPPED' && !still.has(node.node_key))
    .map((node) => node.node_key);
}
