/** Who the service takes the caller for. */
import { z } from 'zod';
import { ALL_ROLES, ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';

export const whoamiRoutes: readonly Route[] = [
  defineRoute({
    id: 'whoami',
    method: 'GET',
    path: '/whoami',
    roles: ALL_ROLES,
    tag: 'Service',
    summary: 'Read the authenticated caller',
    description: 'With authentication switched off, an admin without ids.',
    params: noParams,
    query: noQuery,
    body: noBody,
    response: z
      .object({
        client_id: z.string().nullable(),
        key_id: z.string().nullable(),
        role: z.enum(ROLES),
        namespace: z.string().optional(),
      })
      .meta({ id: 'Whoami' }),
    errors: [],
    handler: ({ requester: { caller } }) => {
      const { client_id, key_id, role, namespace } = caller;
      return Promise.resolve({
        status: 200,
        body: { client_id, key_id, role, ...(namespace === undefined ? {} : { namespace }) },
      });
    },
  }),
];
