/** The HTTP routes of the fund route catalog. */
import { ALL_ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import { list } from './list.ts';
import { recommendRoutes } from './recommend.ts';
import { catalogQuery, catalogResponse, recommendBody, recommendResponse } from './schema.ts';

const common = { tag: 'Routes', roles: ALL_ROLES, params: noParams, errors: [] } as const;

export const routeCatalogRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    id: 'listRoutes',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/route-catalog',
    summary: 'List every active plan template version as a route',
    description:
      'By template key and version, without pages. An agent is not shown routes of other agents.',
    query: catalogQuery,
    body: noBody,
    response: catalogResponse,
    handler: list,
  }),
  defineRoute({
    ...common,
    id: 'recommendRoutes',
    method: 'POST',
    power: 'reads',
    path: '/routes/recommend',
    summary: 'Rank the routes for an asset',
    description:
      'Nothing is written and nothing is reserved. Feasible routes come first; `score_parts` is how each score comes about.',
    query: noQuery,
    body: recommendBody,
    response: recommendResponse,
    handler: recommendRoutes,
  }),
];
