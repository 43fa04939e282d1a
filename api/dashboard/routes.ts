/**
 * The dashboard's own routes: at the root, without the API's keys, roles and limits, and not in its
 * route table. The server and the API document both use this list.
 */
import { z } from 'zod';
import type { Power } from '../../domain/approval/power.ts';
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
import { sessionRoutes, type SessionRouteOptions } from './session-routes.ts';
import { streamRoute, type StreamDoor, type StreamOptions } from './stream.ts';

const PATH = '/dashboard/allowed-addresses';
const common = { tag: 'Dashboard', roles: [] } as const;

/** Dependencies of the routes. */
export interface DashboardParts extends SessionRouteOptions, StreamOptions {
  readonly nonces: Nonces;
  /** Seconds of the cooling period before a new address may be used; null for no cooling. */
  readonly cooling: number | null;
  /** Authenticates the opener of a stream. */
  readonly opener: StreamDoor['authenticate'];
}

/** Returns the dashboard's own routes. `parts` is called at requests only. */
export function dashboardRoutes(parts: () => DashboardParts): readonly DashboardRoute[] {
  return [
    { route: listRoute, access: 'local', older: true },
    ...allowlistWrites(parts).map((route): DashboardRoute => ({
      route,
      access: 'allowlist',
      older: true,
    })),
    { route: nonceRoute(parts), access: 'open' },
    {
      route: streamRoute(parts),
      access: { by: 'known', find: (request) => parts().opener(request) },
    },
    ...sessionRoutes(parts),
  ];
}

/** Returns the route that issues a nonce for the next signature. */
function nonceRoute(parts: () => DashboardParts): Route {
  return defineRoute({
    ...common,
    id: 'issueDashboardNonce',
    method: 'GET',
    // The service stores nothing until the nonce is used, so this GET has no effect.
    acts: 'never',
    power: 'reads',
    path: '/dashboard/nonce',
    summary: 'Get a nonce to sign with, once and within five minutes',
    params: noParams,
    query: noQuery,
    body: noBody,
    response: z.object({ nonce: z.string(), expires_at: timestamp }),
    errors: [],
    handler: () => {
      const { nonce, expires_at } = parts().nonces.issue();
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
  power: 'reads',
  path: PATH,
  summary: 'List the allowlist',
  params: noParams,
  query: listQuery,
  body: noBody,
  response: listResponse,
  errors: [],
  handler: list,
});

function allowlistWrites(parts: () => DashboardParts): readonly Route[] {
  const change = (verb: 'revoke' | 'reactivate', power: Power, summary: string): Route =>
    defineRoute({
      ...common,
      id: `${verb}AllowedAddress`,
      method: 'POST',
      power,
      path: `${PATH}/{id}/${verb}`,
      summary,
      params: rowParams,
      query: noQuery,
      body: reasonBody,
      response: changeResponse,
      errors: ['allowed_address_not_found'],
      handler: (input, deps) =>
        setActive(input, deps, { active: verb === 'reactivate', cooling: parts().cooling }),
    });
  return [
    defineRoute({
      ...common,
      id: 'allowAddress',
      method: 'POST',
      power: { widens: 'allowlist' },
      path: PATH,
      summary: 'Put an address on the list',
      params: noParams,
      query: noQuery,
      body: allowBody,
      response: changeResponse,
      errors: [],
      handler: (input, deps) => allow(input, deps, parts().cooling),
    }),
    change('revoke', 'narrows', 'Take a row out of force'),
    change('reactivate', { widens: 'allowlist' }, 'Put a row back in force'),
  ];
}

/** The same routes for the API document; they cannot be called. */
export const DESCRIBED = dashboardRoutes(() => {
  throw new Error('this route exists only in the API document and cannot be called');
});
