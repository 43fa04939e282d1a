/** Computes which nodes an operator may retry, and which other nodes a retry opens or closes. */
import { ABANDONED } from '../attention-reasons.ts';
import { onCancelTargets, settleEdges } from './edges.ts';
import { failureTargets } from './failure.ts';
import type { WalkInput, WalkNode } from './walk-types.ts';
import { walk } from './walk.ts';

/**
 * Returns whether a node may be retried. An UNKNOWN node: always. An abandoned node: never. Another
 * FAILED node: if its failure path has not started, not even before a cancel. In a CANCELLED
 * movement: only an UNKNOWN node, a compensation, or the second leg of a bridge transfer. For a
 * second leg, a gate does not count as a started failure path: the gate paid nothing, and the funds
 * still arrive only once.
 */
export function isRetryable(input: WalkInput, node: WalkNode): boolean {
  if (node.state === 'UNKNOWN') return true;
  if (node.state !== 'FAILED' || node.error_code === ABANDONED) return false;
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

/** Returns whether the target is a gate that waits, or a resumed gate with no node behind it. */
function isGateToNowhere(target: WalkNode, { edges }: WalkInput): boolean {
  if (target.node_kind !== 'manual_gate') return false;
  if (target.state === 'READY') return true;
  return target.state === 'COMPLETED' && !edges.some(({ from }) => from === target.node_key);
}

/**
 * Returns the waiting gates that the failure of `retried` had opened. They close while that node
 * runs again.
 */
export function closedAgain(input: WalkInput, retried: WalkNode): readonly string[] {
  if (retried.state !== 'FAILED') return [];
  const statuses = settleEdges({ nodes: input.nodes, edges: input.edges, cancelled: false });
  const byKey = new Map(input.nodes.map((each) => [each.node_key, each]));
  return failureTargets(retried, byKey, { edges: input.edges, statuses })
    .filter(({ node_kind, state }) => node_kind === 'manual_gate' && state === 'READY')
    .map((gate) => gate.node_key);
}

/**
 * Returns the SKIPPED nodes that become reachable when `retried` runs again: those that the walk
 * would not skip if every skipped node were BLOCKED.
 */
export function reopened(input: WalkInput, retried: string): readonly string[] {
  // Nodes that the earlier success has started are not undone, so the failure branches stay closed.
  // Example: an allowance that was reset runs again although later nodes have pulled funds by it.
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
