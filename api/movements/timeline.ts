/** GET /movements/{movement_id}/timeline */
import type { z } from 'zod';
import type { Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readTimeline } from '../../store/movement-reads.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { assertVisibleMovement } from '../auth/visible.ts';
import { shown } from '../redact.ts';
import type { timelineResponse } from './responses.ts';

/** Returns all events of the movement, oldest first. */
export async function timeline(
  input: { readonly params: { readonly movement_id: string }; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof timelineResponse>>> {
  const { movement_id } = input.params;
  await assertVisibleMovement(movement_id, input.requester, deps);
  const events = await readTimeline(deps.db, movement_id);
  if (events === null) throw new ServiceError('movement_not_found', { context: { movement_id } });
  const agent = input.requester.caller.role === 'agent';
  const seen = events.map((event) => (agent ? withoutOthers(event) : event));
  return { status: 200, body: seen.map((event) => ({ ...event, ...shown(event, deps.redact) })) };
}

/** Removes the other movement of a reassigned payment: an agent may not see that movement. */
function withoutOthers<E extends { readonly data: JsonObject }>(event: E): E {
  const { reassigned_from: _from, reassigned_to: _to, ...data } = event.data;
  return { ...event, data };
}
