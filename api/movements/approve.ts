/** POST /movements/{movement_id}/approve */
import type { z } from 'zod';
import { approve as approval, bindingsOf } from '../../domain/commands/approval.ts';
import type { Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import type { MovementSnapshot } from '../../domain/snapshot.ts';
import { idTime } from '../../platform/ids.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { observeApproval } from '../operations/request-metrics.ts';
import type { Reply } from '../http/route.ts';
import { act } from './act.ts';
import { missingBindings } from './missing-bindings.ts';
import type { ActionResponse } from './responses.ts';
import type { approveBody } from './schema.ts';

/**
 * Approves the plan that the hash names, when the frontier's executors and signers are available.
 */
export async function approve(
  input: {
    readonly params: { readonly movement_id: string };
    readonly body: z.output<typeof approveBody>;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<ActionResponse>> {
  const { params, body, requester } = input;
  const decide = (snapshot: MovementSnapshot): ReturnType<typeof approval> => {
    const bindings = missingBindings(bindingsOf(snapshot, rootNodes(snapshot.plan)), deps);
    if (bindings.length > 0)
      throw new ServiceError('binding_unavailable', { context: { bindings } });
    return approval(snapshot, body, requester);
  };
  const reply = await act(
    { action: 'approve', movementId: params.movement_id, requester, decide },
    deps,
  );
  // The id tells when the movement was made, so the metric costs no statement.
  observeApproval(Date.now() - idTime(params.movement_id));
  return reply;
}
