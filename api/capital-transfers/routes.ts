/** The routes of capital transfers. */
import { OPS_ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import { create } from './create.ts';
import { list, one, timeline } from './read.ts';
import { resolve } from './resolve.ts';
import {
  transferCreate,
  transferList,
  transferParams,
  transferQuery,
  transferResolve,
  transferTimeline,
  transferView,
} from './schema.ts';

const common = { roles: OPS_ROLES, tag: 'Capital transfers' } as const;

export const capitalTransferRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    id: 'createCapitalTransfer',
    method: 'POST',
    power: { moves: 'capital_transfer' },
    path: '/capital-transfers',
    summary: 'Move funds between two accounts of one provider',
    description:
      'Holds the amount at the source and sends it once. The same `idempotency_key` with the same request (whatever its ' +
      '`reason`) answers 200 with the first transfer; with another request 409, naming the fields that differ.',
    params: noParams,
    query: noQuery,
    body: transferCreate,
    response: transferView,
    status: 201,
    errors: [
      'account_type_not_supported',
      'venue_not_found',
      'provider_mismatch',
      'topology_not_supported',
      'idempotency_conflict',
      'cutover_mode_active',
      'insufficient_effective_withdrawable',
    ],
    handler: create,
  }),
  defineRoute({
    ...common,
    id: 'listCapitalTransfers',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/capital-transfers',
    summary: 'List capital transfers',
    description: 'Newest first.',
    params: noParams,
    query: transferQuery,
    body: noBody,
    response: transferList,
    errors: [],
    handler: list,
  }),
  defineRoute({
    ...common,
    id: 'getCapitalTransfer',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/capital-transfers/{transfer_id}',
    summary: 'Read a capital transfer',
    params: transferParams,
    query: noQuery,
    body: noBody,
    response: transferView,
    errors: ['capital_transfer_not_found'],
    handler: async ({ params }, deps) => ({
      status: 200,
      body: await one(params.transfer_id, deps),
    }),
  }),
  defineRoute({
    ...common,
    id: 'getCapitalTransferTimeline',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/capital-transfers/{transfer_id}/timeline',
    summary: 'Read what happened to a capital transfer',
    description: 'Oldest first.',
    params: transferParams,
    query: noQuery,
    body: noBody,
    response: transferTimeline,
    errors: ['capital_transfer_not_found'],
    handler: timeline,
  }),
  defineRoute({
    ...common,
    id: 'resolveCapitalTransfer',
    method: 'POST',
    power: { moves: 'capital_transfer' },
    path: '/capital-transfers/{transfer_id}/actions/resolve',
    summary: 'Settle a capital transfer by hand',
    description:
      'For a transfer that its provider does not confirm. `completed` consumes the hold, `failed` releases it, and ' +
      '`manual_intervention` keeps it and leaves the decision open. `failed` is `send_still_open` while the last answer of the provider ' +
      'shows the transfer as pending, or otherwise than ordered, and `venue_entry_changed` while its venue keys mean other accounts than at ' +
      'its creation, so that no look can see it. In CREATED it stops the transfer before it is sent.',
    params: transferParams,
    query: noQuery,
    body: transferResolve,
    response: transferView,
    errors: [
      'capital_transfer_not_found',
      'invalid_state',
      'send_still_open',
      'venue_entry_changed',
    ],
    handler: resolve,
  }),
];
