/** POST /movements/{movement_id}/actions/acknowledge */
import { acknowledge as acknowledgement } from '../../domain/commands/acknowledge.ts';
import type { Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { act } from './act.ts';
import type { ActionResponse } from './responses.ts';
import type { AcknowledgeBody } from './schema.ts';

/** Takes a failed movement that a person has dealt with out of attention. */
export function acknowledge(
  input: {
    readonly params: { readonly movement_id: string };
    readonly body: AcknowledgeBody;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<ActionResponse>> {
  const { params, body, requester } = input;
  return act(
    {
      action: 'acknowledge',
      movementId: params.movement_id,
      requester,
      decide: (snapshot) => {
        const transition = acknowledgement(snapshot, body.reason, requester);
        if (transition !== null) return transition;
        throw new ServiceError('invalid_state', {
          message: 'This failure is acknowledged already; the timeline says by whom and why.',
          context: { current_state: snapshot.state, allowed_states: [] },
        });
      },
    },
    deps,
  );
}
