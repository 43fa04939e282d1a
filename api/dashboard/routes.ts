/**
 * The routes of the dashboard: at the root, outside the keys, roles and limits of the API, and not
 * in its table.
 */
import { z } from 'zod';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery, timestamp } from '../http/schemas.ts';
import { allow, list, setActive } from './allowlist.ts';
import type { Nonces } from './nonces.ts';
import type { DashboardRoute } from './route.ts';
import {
  allowBody,
  changeResponse,
  listQuery,
  listResponse,
  reasonBody,
  rowParams,
} from './schema.ts';

const PATH = '/dashboard/allowed-addresses';
const common = { tag: 'Dashboard', roles: [] } as const;

/**
 * The dashboard's own routes. `cooling` is how many seconds an address waits before it is used;
 * null when it need not.
 */
export function dashboardRoutes(cooling: number | null, nonces: Nonces): readonly DashboardRoute[] {
  const writes = allowlistWrites(cooling).map((route): DashboardRoute => ({
    route,
    access: 'allowlist',
    older: true,
  }));
  return [
    { route: listRoute, access: 'local', older: true },
    ...writes,
    { route: nonceRoute(nonces), access: 'open' },
  ];
}

/** A nonce for the next signature. */
function nonceRoute(nonces: Nonces): Route {
  return defineRoute({
    ...common,
    id: 'issueDashboardNonce',
    method: 'GET',
    // A read for the service, which keeps nothing of it until it is used.
    acts: 'never',
    path: '/dashboard/nonce',
    summary: 'Get a nonce to sign with, once and within five minutes',
    params: noParams,
    query: noQuery,
    body: noBody,
    response: z.object({ nonce: z.string(), expires_at: timestamp }),
    errors: [],
    handler: () => {
      const { nonce, expires_at } = nonces.issue();
      return Promise.resolve({
        status: 200,
        body: { nonce, expires_at: new Date(expires_at).toISOString() },
      });
    },
  });
}

const listRoute = defineRoute({
  ...common,
  id: 'listAllowedAddresses',
  method: 'GET',
  acts: 'never',
  path: PATH,
  summary: 'List the allowlist',
  params: noParams,
  query: listQuery,
  body: noBody,
  response: listResponse,
  errors: [],
  handler: list,
});

function allowlistWrites(cooling: number | null): readonly Route[] {
  const change = (verb: 'revoke' | 'reactivate', summary: string): Route =>
    defineRoute({
      ...common,
      id: `${verb}AllowedAddress`,
      method: 'POST',
      path: `${PATH}/{id}/${verb}`,
      summary,
      params: rowParams,
      query: noQuery,
      body: reasonBody,
      response: changeResponse,
      errors: ['allowed_address_not_found'],
      handler: (input, deps) => setActive(input, deps, { active: verb === 'reactivate', cooling }),
    });
  return [
    defineRoute({
      ...common,
      id: 'allowAddress',
      method: 'POST',
      path: PATH,
      summary: 'Put an address on the list',
      params: noParams,
      query: noQuery,
      body: allowBody,
      response: changeResponse,
      errors: [],
      handler: (input, deps) => allow(input, deps, cooling),
    }),
    change('revoke', 'Take a row out of force'),
    change('reactivate', 'Put a row back in force'),
  ];
}
