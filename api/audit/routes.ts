/** The routes of the audit trail. */
import { OPS_ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams } from '../http/schemas.ts';
import { list, listRegistry } from './list.ts';
import { listQuery, listResponse, registryListQuery } from './schema.ts';

const common = {
  method: 'GET',
  acts: 'never',
  tag: 'Audit',
  roles: OPS_ROLES,
  params: noParams,
  body: noBody,
  response: listResponse,
  errors: [],
} as const;

export const auditRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    id: 'listAuditEvents',
    path: '/audit/events',
    summary: 'List audit events',
    description:
      'Newest first. Filters are combined; each must be equal, and the time range includes its start and not its end.',
    query: listQuery,
    handler: list,
  }),
  defineRoute({
    ...common,
    id: 'listRegistryAudit',
    path: '/registry/audit',
    summary: 'List audit events of the registries',
    description:
      'The same list over what was done to executors, signers, the switch and the registry of the bridge, and over checks for drift.',
    query: registryListQuery,
    handler: listRegistry,
  }),
];
