/** The routes of callbacks. */
import { OPS_ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import { list } from './list.ts';
import { redeliver } from './redeliver.ts';
import { callbackParams, callbackView, listQuery, listResponse } from './schema.ts';

const common = { tag: 'Callbacks', roles: OPS_ROLES, body: noBody } as const;

export const callbackRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    id: 'listCallbacks',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/callbacks',
    summary: 'List callbacks',
    description:
      'Newest first. `status=dead_letter` shows those that are sent only after a redelivery.',
    params: noParams,
    query: listQuery,
    response: listResponse,
    errors: [],
    handler: list,
  }),
  defineRoute({
    ...common,
    id: 'redeliverCallback',
    method: 'POST',
    power: 'narrows',
    path: '/callbacks/{event_id}/redeliver',
    summary: 'Send a dead letter again',
    description:
      'With the same payload and nonce, signed anew; its attempts begin at nought. Only dead letters can be sent again.',
    params: callbackParams,
    query: noQuery,
    response: callbackView,
    errors: ['callback_not_found', 'invalid_state'],
    handler: redeliver,
  }),
];
