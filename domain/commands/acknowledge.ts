/**
 * The acknowledge command: a person has dealt with a failed movement, so it no longer needs
 * attention.
 */
import type { MovementSnapshot } from '../snapshot.ts';
import { ACTION_STATES } from '../states/movement.ts';
import { NOW, type Transition } from '../transition.ts';
import { actorOf, movementAudit, type Requester } from './context.ts';

/**
 * Returns the transition after which a FAILED movement no longer needs attention. No workflow is
 * woken, since there is nothing to do. When the movement runs again, `apply_transition` removes the
 * acknowledgement. Null if the movement is already acknowledged: the first reason stays.
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
