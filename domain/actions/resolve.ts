/** Resolve: a person says what no venue can answer any more. */
import type { JsonObject } from '../executor.ts';
import { SYSTEM_ACTOR, type Actor } from '../roles.ts';
import type { MovementSnapshot } from '../snapshot.ts';
import { NOW, type Transition } from '../transition.ts';
import { changeOf, nodeEvent, settleIn } from './changes.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

export interface Resolution {
  readonly node_key: string;
  readonly outcome: 'completed' | 'failed';
  readonly reason: string;
  readonly evidence: JsonObject;
}

/**
 * A person says what no venue can answer any more: an UNKNOWN node landed, or did not. Null when the
 * node is not UNKNOWN (the caller answers `invalid_state`).
 */
export function resolve(snapshot: MovementSnapshot, resolution: Resolution, requester: Requester): Transition | null {
  const node = snapshot.nodes.find((each) => each.node_key === resolution.node_key);
  if (node === undefined || node.state !== 'UNKNOWN') return null;
  const landed = resolution.outcome === 'completed';
  const state = landed ? 'COMPLETED' : 'FAILED';
  const error_code = landed ? null : 'RESOLVED_AS_FAILED';
  const conditions = settleIn(snapshot, { ...node, state, error_code });
  const actor: Actor = { ...actorOf(requester), type: 'operator' };
  const { node_key, reason, evidence } = resolution;
  return {
    movement_id: snapshot.movement_id,
    from: [snapshot.state],
    // The run derives what the movement is in now; EXECUTING is the way there.
    ...(snapshot.state === 'MANUAL_INTERVENTION' ? { to: 'EXECUTING' as const } : {}),
    version: snapshot.version,
    bump: true,
    conditions: conditions.results,
    nodes: [
      {
        ...changeOf(node, [state]),
        set: { error_code, error_message: landed ? null : reason.slice(0, 1_000), completed_at: NOW, recover_first: false },
        artifacts: [{ kind: 'resolution', data: { outcome: resolution.outcome, reason, evidence } }],
      },
    ],
    timeline: [
      {
        ...nodeEvent(landed ? 'node_completed' : 'node_failed', node, state, actor, `Resolved as ${resolution.outcome} by a person`),
        data: { reason, evidence, ...(error_code === null ? {} : { error_code }) },
      },
      ...(snapshot.state === 'MANUAL_INTERVENTION'
        ? [
            {
              event_type: 'frontier_advanced',
              message: 'An unknown outcome was resolved',
              actor: SYSTEM_ACTOR,
              from_state: 'MANUAL_INTERVENTION',
              to_state: 'EXECUTING',
            } as const,
          ]
        : []),
      ...conditions.timeline,
    ],
    ...movementAudit(requester, 'movement.resolve', snapshot.movement_id, {
      reason: reason.slice(0, 1_000),
      details: { node_key, outcome: resolution.outcome, evidence },
    }),
    command: 'resolve',
  };
}
