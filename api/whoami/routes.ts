/** The route that shows callers who the service takes them for. */
import { z } from 'zod';
import { ALL_ROLES, CALLER_ROLES, identityOf } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';

export const whoamiRoutes: readonly Route[] = [
  defineRoute({
    id: 'whoami',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/whoami',
    roles: ALL_ROLES,
    tag: 'Service',
    summary: 'Read the authenticated caller',
    description:
      'With authentication switched off, an admin without ids. Under `/dashboard/api` the ids are `dashboard:<operator>`, and `dashboard` says whether that operator writes the allowlist.',
    params: noParams,
    query: noQuery,
    body: noBody,
    response: z
      .object({
        client_id: z.string().nullable(),
        key_id: z.string().nullable(),
        role: z.enum(CALLER_ROLES),
        namespace: z.string().optional(),
        dashboard: z.object({ operator: z.string(), allowlist: z.boolean() }).optional(),
      })
      .meta({ id: 'Whoami' }),
    errors: [],
    handler: ({ requester: { caller } }) => {
      const { dashboard } = caller;
      return Promise.resolve({
        status: 200,
        body: { ...identityOf(caller), ...(dashboard === undefined ? {} : { dashboard }) },
      });
    },
  }),
];
