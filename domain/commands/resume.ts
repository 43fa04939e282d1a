/** The resume command: a person releases a gate, or requests another look at an unknown outcome. */
import { walk } from '../graph/walk.ts';
import { toWalk, type MovementSnapshot, type NodeSnapshot } from '../snapshot.ts';
import { ACTION_STATES } from '../states/movement.ts';
import { NOW, type NodeChange, type Transition } from '../transition.ts';
import { changeOf, nodeEvent, oldest, readied, readyEvent, replace, settleIn } from './changes.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/**
 * Returns the node that a resume would choose: the oldest waiting gate or UNKNOWN node; undefined
 * if there is none.
 */
export function resumableNode(snapshot: MovementSnapshot): NodeSnapshot | undefined {
  const unknown = oldest(snapshot.nodes.filter((node) => node.state === 'UNKNOWN'));
  const gate = oldest(
    snapshot.nodes.filter((node) => node.node_kind === 'manual_gate' && node.state === 'READY'),
  );
  return snapshot.state === 'MANUAL_INTERVENTION' ? (unknown ?? gate) : (gate ?? unknown);
}

/**
 * Releases the oldest waiting gate, or observes an UNKNOWN node again; then the graph walk
 * continues. Null if there is nothing to resume (the caller returns `invalid_state`).
 */
export function resume(snapshot: MovementSnapshot, requester: Requester): Transition | null {
  const actor = actorOf(requester);
  const node = resumableNode(snapshot);
  if (node === undefined) return null;
  const unknown = node.state === 'UNKNOWN' ? node : undefined;
  const moved: NodeSnapshot =
    node === unknown
      ? { ...node, state: 'OBSERVING' }
      : { ...node, state: 'COMPLETED', resumed: true, settled_order: Number.MAX_SAFE_INTEGER };
  const conditions = node === unknown ? null : settleIn(snapshot, moved);
  const after = {
    ...replace(snapshot, [moved]),
    conditions: { ...snapshot.conditions, ...conditions?.results },
  };
  const next = walk(toWalk({ ...after, state: 'EXECUTING' }));
  const change: NodeChange =
    node === unknown
      ? {
          ...changeOf(node, ['OBSERVING']),
          set: {
            // The database keeps a code that says what the venue has (`is_at_venue`).
            error_code: null,
            error_message: null,
            error_count: 0,
            unanswered: 0,
            resumed: true,
            only_look: true,
          },
        }
      : { ...changeOf(node, ['COMPLETED']), set: { resumed: true, completed_at: NOW } };
  return {
    movement_id: snapshot.movement_id,
    from: ACTION_STATES.resume,
    to: 'EXECUTING',
    version: snapshot.version,
    bump: true,
    set: { current_frontier: next.frontier },
    nodes: [change, ...next.ready.map((key) => readied(snapshot, key))],
    ...(conditions === null ? {} : { conditions: conditions.results }),
    timeline: [
      {
        event_type: 'request_resumed',
        message: 'Resumed',
        actor,
        node_key: node.node_key,
        from_state: snapshot.state,
        to_state: 'EXECUTING',
      },
      nodeEvent(
        node === unknown ? 'node_observing' : 'node_completed',
        node,
        moved.state,
        actor,
        node === unknown ? 'Observed again' : 'Gate released',
      ),
      ...(conditions?.timeline ?? []),
      ...next.ready.map((key) => readyEvent(snapshot, key)),
    ],
    ...movementAudit(requester, 'movement.resume', snapshot.movement_id, {
      details: { node_key: node.node_key },
    }),
    command: 'resume',
  };
}
