/** Acknowledge: a person has dealt with a failed movement, so that it no longer needs one. */
import type { MovementSnapshot } from '../snapshot.ts';
import { ACTION_STATES } from '../states/movement.ts';
import { NOW, type Transition } from '../transition.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/**
 * Takes a FAILED movement out of attention. It wakes no run, since nothing is to be done; when the
 * movement runs again, `apply_transition` removes the mark. Null where it is acknowledged already:
 * the first reason stays.
 */
export function acknowledge(
  snapshot: MovementSnapshot,
  reason: string,
  requester: Requester,
): Transition | null {
  if (snapshot.acknowledged) return null;
  return {
    movement_id: snapshot.movement_id,
    from: ACTION_STATES.acknowledge,
    version: snapshot.version,
    bump: true,
    set: { acknowledged_at: NOW },
    timeline: [
      {
        event_type: 'request_acknowledged',
        message: 'A person has dealt with the failure',
        actor: { ...actorOf(requester), type: 'operator' },
        data: { reason },
      },
    ],
    ...movementAudit(requester, 'movement.acknowledge', snapshot.movement_id, { reason }),
  };
}
