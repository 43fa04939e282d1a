/** POST /movements/{movement_id}/reject */
import type { z } from 'zod';
import { reject as rejection } from '../../domain/commands/approval.ts';
import type { Requester } from '../../domain/commands/context.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { act } from './act.ts';
import type { ActionResponse } from './responses.ts';
import type { rejectBody } from './schema.ts';

/** Rejects a movement that waits for its approval. An empty reason is none. */
export function reject(
  input: {
    readonly params: { readonly movement_id: string };
    readonly body: z.output<typeof rejectBody>;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<ActionResponse>> {
  const { params, body, requester } = input;
  const request = { ...body, reason: body.reason === '' ? undefined : body.reason };
  return act(
    {
      action: 'reject',
      movementId: params.movement_id,
      requester,
      decide: (snapshot) => rejection(snapshot.movement_id, request, requester),
    },
    deps,
  );
}
