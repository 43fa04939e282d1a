/**
 * The cancel command: nodes that have not started never start; nodes that have started run to a
 * proven end.
 */
import { onCancelTargets } from '../graph/edges.ts';
import { firstLegOf } from '../plan/legs.ts';
import type { MovementSnapshot, NodeSnapshot } from '../snapshot.ts';
import { ACTION_STATES } from '../states/movement.ts';
import { IN_FLIGHT_NODE_STATES, isSettled } from '../states/node.ts';
import { NOW, type NodeChange, type Transition } from '../transition.ts';
import { changeOf, nodeEvent, readied, readyEvent, replace } from './changes.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/** Returns whether the plan can be cancelled at all. */
export function isCancellable(snapshot: MovementSnapshot): boolean {
  return snapshot.plan.edges.some((edge) => edge.edge_type === 'on_cancel');
}

/**
 * Returns the transition to CANCELLED. Nodes before their fence (the last check before a send) are
 * cancelled immediately; nodes past it run to a proven end. Nodes behind on_cancel edges stay
 * BLOCKED until the graph walk decides about them. The second leg of a bridge transfer is not
 * cancelled if its first leg was or may have been sent. If a restored database may have lost the
 * record of a node's send, the node becomes READY: its executor looks for that send, and sends
 * nothing new.
 */
export function cancel(snapshot: MovementSnapshot, requester: Requester): Transition {
  const actor = actorOf(requester);
  const compensating = onCancelTargets(snapshot.plan.edges);
  const owed = owedLegs(snapshot);
  const unsent = snapshot.nodes.filter(
    (node) =>
      !owed.has(node.node_key) &&
      (node.state === 'READY' || (node.state === 'BLOCKED' && !compensating.has(node.node_key))),
  );
  const stopped = unsent.filter((node) => !mayHaveSent(node));
  const queried = unsent.filter((node) => node.recover_first && node.state === 'BLOCKED');
  const after = replace(snapshot, [
    ...stopped.map((node) => ({ ...node, state: 'CANCELLED' }) as const),
    ...queried.map((node) => ({ ...node, state: 'READY' }) as const),
  ]);
  const keeps = spendsOrMaySpend(after);
  return {
    movement_id: snapshot.movement_id,
    from: ACTION_STATES.cancel,
    to: 'CANCELLED',
    version: snapshot.version,
    bump: true,
    set: {
      current_frontier: after.nodes
        .filter((node) => node.state !== 'BLOCKED' && !isSettled(node.state))
        .map((node) => node.node_key),
      reservation_status: keeps ? 'held' : 'released',
    },
    nodes: [
      ...stopped.map((node): NodeChange => ({
        ...changeOf(node, ['CANCELLED']),
        set: { completed_at: NOW },
      })),
      ...queried.map(({ node_key }) => readied(snapshot, node_key)),
    ],
    timeline: [
      {
        event_type: 'request_cancelled',
        message: 'Cancelled',
        actor,
        from_state: snapshot.state,
        to_state: 'CANCELLED',
      },
      ...stopped.map((node) =>
        nodeEvent('node_cancelled', node, 'CANCELLED', actor, 'Cancelled before it started'),
      ),
      ...queried.map(({ node_key }) => readyEvent(snapshot, node_key)),
    ],
    ...movementAudit(requester, 'movement.cancel', snapshot.movement_id),
    command: 'cancel',
  };
}

/** Returns the second legs whose first leg was or may have been sent. */
function owedLegs({ plan, nodes }: MovementSnapshot): ReadonlySet<string> {
  const byKey = new Map(nodes.map((node) => [node.node_key, node]));
  const sent = (key: string): boolean => {
    const first = byKey.get(key);
    if (first === undefined) return false;
    return first.state === 'READY'
      ? mayHaveSent(first)
      : first.state === 'COMPLETED' || IN_FLIGHT_NODE_STATES.includes(first.state);
  };
  const legs = plan.nodes.filter((node) => {
    const first = firstLegOf(node);
    return first !== null && sent(first);
  });
  return new Set(legs.map(({ node_key }) => node_key));
}

/**
 * Returns whether a side-effect node has completed, or has passed its fence without proof that
 * nothing landed.
 */
export function spendsOrMaySpend(snapshot: MovementSnapshot): boolean {
  const effects = new Set(
    snapshot.plan.nodes.filter((node) => node.has_side_effect).map((node) => node.node_key),
  );
  return snapshot.nodes.some(
    (node) =>
      effects.has(node.node_key) &&
      (node.state === 'COMPLETED' ||
        IN_FLIGHT_NODE_STATES.includes(node.state) ||
        (node.state === 'READY' && mayHaveSent(node))),
  );
}

/**
 * Returns whether the attempt of a READY node may have been sent. Its executor then looks for that
 * send, or sends it again if it cannot be found.
 */
function mayHaveSent({ recover_first, accepted }: NodeSnapshot): boolean {
  return recover_first || accepted;
}
