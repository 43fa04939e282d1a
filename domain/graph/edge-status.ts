/**
 * The status of a movement's edges, for display. The walk itself uses one branch at a time: the
 * main branch, or after a cancel the cancel branch.
 */
import { ENDED_STATES } from '../states/movement.ts';
import type { NodeState } from '../states/node.ts';
import { onCancelTargets, settleEdges, type EdgeStatus } from './edges.ts';
import type { WalkInput } from './walk-types.ts';

/** Nodes in these states have not started. */
const UNSTARTED: readonly NodeState[] = ['BLOCKED', 'SKIPPED', 'CANCELLED'];

/** Returns one status for each edge in plan order; null when the stored facts do not decide it. */
export function edgeStatuses(input: WalkInput): readonly (EdgeStatus | null)[] {
  return input.state === 'CANCELLED' ? afterCancel(input) : beforeCancel(input);
}

/**
 * An on_cancel edge stays pending for as long as a cancel may come. An edge that is still pending
 * when the movement ends never fires.
 */
function beforeCancel({ nodes, edges, state }: WalkInput): readonly EdgeStatus[] {
  const statuses = settleEdges({ nodes, edges, cancelled: false });
  const over = ENDED_STATES.includes(state);
  return edges.map((edge) => {
    const status = edge.edge_type === 'on_cancel' ? 'pending' : (statuses.get(edge) ?? 'pending');
    return over && status === 'pending' ? 'dead' : status;
  });
}

/**
 * Which edges had fired before the cancel is not stored. An edge into a node that has started did
 * fire; an edge whose source completed after the cancel started nothing. If the cancel itself may
 * have started a node, the status of the node's other edges is unknown.
 */
function afterCancel({ nodes, edges }: WalkInput): readonly (EdgeStatus | null)[] {
  const lane = settleEdges({ nodes, edges, cancelled: true });
  const main = settleEdges({ nodes, edges, cancelled: false });
  const started = new Set(
    nodes.filter((node) => !UNSTARTED.includes(node.state)).map((node) => node.node_key),
  );
  const byCancel = onCancelTargets(edges);
  return edges.map((edge) => {
    if (edge.edge_type === 'on_cancel') return lane.get(edge) ?? 'pending';
    if (main.get(edge) !== 'fired' || !started.has(edge.to)) return 'dead';
    return byCancel.has(edge.to) ? null : 'fired';
  });
}
