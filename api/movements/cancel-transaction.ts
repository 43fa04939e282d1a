/** POST /movements/{movement_id}/nodes/{node_key}/actions/cancel-transaction */
import {
  CANCELLABLE,
  cancelTransaction as request,
} from '../../domain/commands/cancel-transaction.ts';
import type { Requester } from '../../domain/commands/context.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { act } from './act.ts';
import { wrongNode } from './resolve.ts';
import type { ActionResponse } from './responses.ts';
import type { CancelTransactionBody } from './schema.ts';

/** Has the node's run sign a transaction that moves nothing, with the nonce of its own. */
export function cancelTransaction(
  input: {
    readonly params: { readonly movement_id: string; readonly node_key: string };
    readonly body: CancelTransactionBody;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<ActionResponse>> {
  const { params, body, requester } = input;
  const { movement_id, node_key } = params;
  return act(
    {
      action: 'cancel_transaction',
      movementId: movement_id,
      requester,
      decide: (snapshot) =>
        request(snapshot, { node_key, ...body }, requester) ??
        wrongNode(snapshot, { node_key, action: 'cancel-transaction', allowed: CANCELLABLE }),
    },
    deps,
  );
}
