/** Which node an operator's retry takes, and what becomes possible again because of it. */
import { onCancelTargets, settleEdges } from './edges.ts';
import { failureTargets } from './failure.ts';
import type { WalkInput, WalkNode } from './walk-types.ts';
import { walk } from './walk.ts';

/**
 * Whether a node may be retried. UNKNOWN always; FAILED while its failure path has not started,
 * neither before a cancel. In a CANCELLED movement only a compensation, a second leg of a bridge or
 * an UNKNOWN node. A gate does not count as the start of a second leg's failure path: it paid
 * nothing, and what the bridge owes is still brought only once.
 */
export function isRetryable(input: WalkInput, node: WalkNode): boolean {
  if (node.state === 'UNKNOWN') return true;
  if (node.state !== 'FAILED') return false;
  const cancelled = input.state === 'CANCELLED';
  const isCompensation = onCancelTargets(input.edges).has(node.node_key);
  if (cancelled && node.brings == null && !isCompensation) return false;
  const statuses = settleEdges({ nodes: input.nodes, edges: input.edges, cancelled: false });
  const byKey = new Map(input.nodes.map((each) => [each.node_key, each]));
  const failurePath = failureTargets(node, byKey, { edges: input.edges, statuses });
  return failurePath.every(
    (target) =>
      target.state === 'BLOCKED' ||
      target.state === 'SKIPPED' ||
      target.state === 'CANCELLED' ||
      (node.brings != null && isGateToNowhere(target, input)),
  );
}

/** A gate that waits, or that was resumed and had nothing behind it. */
function isGateToNowhere(target: WalkNode, { edges }: WalkInput): boolean {
  if (target.node_kind !== 'manual_gate') return false;
  if (target.state === 'READY') return true;
  return target.state === 'COMPLETED' && !edges.some(({ from }) => from === target.node_key);
}

/** Waiting gates that the failure of `retried` had opened: they close while it runs again. */
export function closedAgain(input: WalkInput, retried: WalkNode): readonly string[] {
  if (retried.state !== 'FAILED') return [];
  const statuses = settleEdges({ nodes: input.nodes, edges: input.edges, cancelled: false });
  const byKey = new Map(input.nodes.map((each) => [each.node_key, each]));
  return failureTargets(retried, byKey, { edges: input.edges, statuses })
    .filter(({ node_kind, state }) => node_kind === 'manual_gate' && state === 'READY')
    .map((gate) => gate.node_key);
}

/**
 * The SKIPPED nodes that are no longer dead once `retried` runs again: those the walk would not
 * skip anew if every skipped node were BLOCKED.
 */
export function reopened(input: WalkInput, retried: string): readonly string[] {
  // What its success has started is not undone, so its other branches stay closed (an allowance
  // that was reset runs again behind nodes that have pulled by it).
  const hasStartedOthers = input.nodes.some(({ node_key, state }) => {
    if (['BLOCKED', 'SKIPPED', 'CANCELLED'].includes(state)) return false;
    const into = input.edges.filter(({ to }) => to === node_key);
    return (
      into.length > 0 &&
      into.every(({ from, edge_type }) => from === retried && edge_type === 'on_success')
    );
  });
  const nodes = input.nodes.map((node): WalkNode => {
    if (node.node_key === retried)
      return {
        ...node,
        state: hasStartedOthers ? 'COMPLETED' : 'READY',
        resumed: false,
        timed_out: false,
        ended_by_stop: false,
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
