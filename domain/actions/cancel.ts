/** Cancel: what has not begun never will; what has runs to a proven end. */
import { onCancelTargets } from '../graph/edges.ts';
import type { MovementSnapshot } from '../snapshot.ts';
import { ACTION_STATES } from '../states/movement.ts';
import { IN_FLIGHT_NODE_STATES, isSettled } from '../states/node.ts';
import { NOW, type Transition } from '../transition.ts';
import { changeOf, nodeEvent, replace } from './changes.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

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
  const compensating = onCancelTargets(snapshot.plan.edges);
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
