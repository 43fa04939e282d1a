/** POST /movements/{movement_id}/actions/cancel */
import type { Requester } from '../../domain/actions/context.ts';
import { cancel as cancellation, isCancellable } from '../../domain/actions/cancel.ts';
import { ServiceError } from '../../domain/errors.ts';
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
        return cancellation(snapshot, requester);
      },
    },
    deps,
  );
}
