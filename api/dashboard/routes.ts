/**
 * The routes of the dashboard: at the root, outside the keys, roles and limits of the API, and not
 * in its table.
 */
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import { allow, list, setActive } from './allowlist.ts';
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

/** `cooling` is how many seconds an address waits before it is used; null when it need not. */
export function dashboardRoutes(cooling: number | null): readonly Route[] {
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
      id: 'listAllowedAddresses',
      method: 'GET',
      path: PATH,
      summary: 'List the allowlist',
      params: noParams,
      query: listQuery,
      body: noBody,
      response: listResponse,
      errors: [],
      handler: list,
    }),
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
