/** The wire contract of callbacks. */
import { z } from 'zod';
import { CALLBACK_STATUSES } from '../../domain/callbacks/status.ts';
import { WEBHOOK_EVENTS, WEBHOOK_NAME, WEBHOOK_TEST } from '../../domain/callbacks/webhook.ts';
import { CALLBACK_EVENTS } from '../../domain/events.ts';
import type { CallbackRecord } from '../../store/callbacks.ts';
import { nextCursor, pageParameters } from '../http/paging.ts';
import { jsonObject, listOf, oneOf, timestamp, uuid } from '../http/schemas.ts';

export const callbackParams = z.strictObject({ event_id: uuid });

export const listQuery = z.strictObject({
  status: z.enum(CALLBACK_STATUSES).optional(),
  movement_id: uuid.optional(),
  transfer_id: uuid.optional(),
  webhook: z.string().regex(WEBHOOK_NAME).optional(),
  ...pageParameters,
});

export const callbackView = z
  .object({
    event_id: uuid,
    movement_id: uuid.nullable().meta({ description: 'Null unless it is of a movement.' }),
    transfer_id: uuid.nullable().meta({ description: 'Null unless it is of a capital transfer.' }),
    webhook: z.string().nullable().meta({
      description: 'The webhook of the service whose message it is; else null.',
    }),
    event_type: oneOf([...CALLBACK_EVENTS, ...WEBHOOK_EVENTS, WEBHOOK_TEST]),
    sequence: z
      .int()
      .meta({ description: "The event's place in its timeline; 0 for a webhook, which has none." }),
    url: z
      .string()
      .meta({ description: 'Where it goes; a query is not shown, since it may hold a token.' }),
    payload: jsonObject.meta({ description: 'What is sent, the same at every attempt.' }),
    nonce: z
      .string()
      .meta({ description: '`X-SVC-Nonce` and `webhook-id`, the same at every attempt.' }),
    status: z.enum(CALLBACK_STATUSES),
    attempts: z.int().meta({ description: 'Requests made since it was written or sent again.' }),
    next_attempt_at: timestamp.nullable().meta({ description: 'Null unless it is pending.' }),
    last_error: z.string().nullable().meta({ example: 'http_503' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'CallbackView' });
export type CallbackView = z.input<typeof callbackView>;

export const listResponse = z
  .object({ callbacks: listOf(callbackView), next_cursor: nextCursor })
  .meta({ id: 'CallbackList' });

/** Returns a callback as responses show it. */
export function viewOf(callback: CallbackRecord): CallbackView {
  return { ...callback, url: callback.url.replace(/[?#].*$/s, '?[redacted]') };
}
