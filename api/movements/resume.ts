/** POST /movements/{movement_id}/actions/resume */
import type { Requester } from '../../domain/commands/context.ts';
import type { NamedNode } from '../../domain/commands/named-node.ts';
import { resume as resumeTransition, resumableNode } from '../../domain/commands/resume.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { act, invalidState, refuseOther } from './act.ts';
import type { ActionResponse } from './responses.ts';

/** Releases a manual gate, or has an UNKNOWN node observed again. */
export function resume(
  input: {
    readonly params: { readonly movement_id: string };
    readonly body: NamedNode;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<ActionResponse>> {
  const { params, body, requester } = input;
  return act(
    {
      action: 'resume',
      movementId: params.movement_id,
      requester,
      decide: (snapshot) => {
        refuseOther(body, resumableNode(snapshot));
        const transition = resumeTransition(snapshot, requester);
        if (transition === null) throw invalidState('resume', snapshot.state);
        return transition;
      },
    },
    deps,
  );
}
