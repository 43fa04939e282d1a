/** POST /callbacks/{event_id}/redeliver */
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { REDELIVERABLE } from '../../domain/callbacks/status.ts';
import { ServiceError } from '../../domain/errors.ts';
import { redeliverCallback } from '../../store/callbacks.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { viewOf, type CallbackView } from './schema.ts';

/**
 * Puts a dead letter back into its movement's queue; a worker sends it again with the same payload
 * and nonce.
 */
export async function redeliver(
  input: { readonly params: { readonly event_id: string }; readonly requester: Requester },
  deps: Pick<ApiDependencies, 'db'>,
): Promise<Reply<CallbackView>> {
  const { event_id } = input.params;
  const about = {
    action: 'callback.redeliver',
    entity_type: 'callback',
    entity_key: event_id,
  } as const;
  return auditedRefusal(deps, input.requester, about, async () => {
    const audit = [auditOf(input.requester, about)];
    const outcome = await redeliverCallback(deps.db, { event_id, states: REDELIVERABLE, audit });
    if (outcome === null) throw new ServiceError('callback_not_found', { context: { event_id } });
    if (!outcome.ok) {
      throw new ServiceError('invalid_state', {
        context: { event_id, current_state: outcome.status, allowed_states: REDELIVERABLE },
      });
    }
    return { status: 200, body: viewOf(outcome.callback) };
  });
}
