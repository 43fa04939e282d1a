/** POST /movements/{movement_id}/actions/cancel */
import type { Requester } from '../../domain/commands/context.ts';
import { cancel as cancellation, isCancellable } from '../../domain/commands/cancel.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { MovementSnapshot } from '../../domain/snapshot.ts';
import { ACTION_STATES } from '../../domain/states/movement.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { act } from './act.ts';
import type { ActionResponse } from './responses.ts';

/** Stops what has not begun; what has is followed to its proven end. */
export function cancel(
  input: { readonly params: { readonly movement_id: string }; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<ActionResponse>> {
  const { params, requester } = input;
  return act(
    {
      action: 'cancel',
      movementId: params.movement_id,
      requester,
      decide: (snapshot) => {
        if (!isCancellable(snapshot))
          throw new ServiceError('no_on_cancel_edge', {
            context: { movement_id: snapshot.movement_id },
          });
        assertAskable(snapshot);
        return cancellation(snapshot, requester);
      },
    },
    deps,
  );
}

/**
 * A cancel leaves nodes to be asked about that a restored database may have forgotten a send of,
 * and none is asked about without an approval.
 */
function assertAskable({ movement_id, state, nodes }: MovementSnapshot): void {
  const unasked = nodes.filter(({ recover_first }) => recover_first);
  if (state !== 'PENDING_APPROVAL' || unasked.length === 0) return;
  throw new ServiceError('invalid_state', {
    message:
      'A restored database may have forgotten its approval and what it sent. Approve it while the cutover switch is frozen, so that its nodes are asked about and nothing is sent, and cancel it then; or reject it, if it was never approved.',
    context: {
      movement_id,
      current_state: state,
      allowed_states: ACTION_STATES.cancel.filter((each) => each !== state),
      nodes: unasked.map(({ node_key }) => node_key),
    },
  });
}
