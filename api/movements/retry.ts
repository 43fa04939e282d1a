/** POST /movements/{movement_id}/actions/retry */
import type { Requester } from '../../domain/commands/context.ts';
import type { NamedNode } from '../../domain/commands/named-node.ts';
import { retry as retryTransition, retryableNode } from '../../domain/commands/retry.ts';
import { ServiceError } from '../../domain/errors.ts';
import { readResetAllowances } from '../../store/allowances.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { act, invalidState, refuseOther } from './act.ts';
import type { ActionResponse } from './responses.ts';

/** Queues the oldest FAILED or UNKNOWN node again; an allowance that was reset, before it. */
export async function retry(
  input: {
    readonly params: { readonly movement_id: string };
    readonly body: NamedNode;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<ActionResponse>> {
  const { params, body, requester } = input;
  const resets = await readResetAllowances(deps.db, params.movement_id);
  return act(
    {
      action: 'retry',
      movementId: params.movement_id,
      requester,
      decide: (snapshot) => {
        refuseOther(body, retryableNode(snapshot));
        const transition = retryTransition(snapshot, requester, resets);
        if (transition !== null) return transition;
        // Of a cancelled movement only a failed compensation may be retried; without one the state
        // is the reason.
        if (snapshot.state === 'CANCELLED') throw invalidState('retry', snapshot.state);
        throw new ServiceError('no_retryable_node', {
          context: { movement_id: snapshot.movement_id, current_state: snapshot.state },
        });
      },
    },
    deps,
  );
}
