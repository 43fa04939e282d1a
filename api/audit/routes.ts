/** The routes of the audit trail. */
import { OPS_ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import { list, listRegistry } from './list.ts';
import { listQuery, listResponse, registryListQuery, sealResponse } from './schema.ts';
import { readSealState } from '../../store/audit-seals.ts';

/** Seconds after which an unsealed row counts as overdue; `audit verify` uses the same value. */
const GRACE_SECONDS = 60;

const common = {
  method: 'GET',
  acts: 'never',
  power: 'reads',
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
  defineRoute({
    ...common,
    id: 'getAuditSeal',
    path: '/audit/seal',
    summary: 'Read how far the audit trail is sealed',
    description:
      'Whether sealing goes on. Whether any record was changed or is missing, `fundadmin audit verify` says: it reads them all.',
    query: noQuery,
    response: sealResponse,
    handler: async (_input, { db }) => ({
      status: 200,
      body: await readSealState(db, GRACE_SECONDS),
    }),
  }),
];
