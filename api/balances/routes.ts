/** The routes of balances. */
import { ALL_ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams } from '../http/schemas.ts';
import { list } from './list.ts';
import { balancesQuery, balancesResponse } from './schema.ts';

export const balanceRoutes: readonly Route[] = [
  defineRoute({
    id: 'listBalances',
    method: 'GET',
    acts: ({ fresh }) => fresh === true,
    power: 'reads',
    path: '/balances',
    roles: ALL_ROLES,
    tag: 'Balances',
    summary: 'Read the latest balances',
    description:
      'The latest snapshot of each (venue, asset, account type). `fresh=true` with a `venue_key` asks the venue first; ' +
      'when it does not answer, the last snapshot is returned. `venues` has what each venue showed of its withdrawals.',
    params: noParams,
    query: balancesQuery,
    body: noBody,
    response: balancesResponse,
    errors: [],
    handler: list,
  }),
];
