/** GET executors and PATCH executors/{executor_key}. */
import { z } from 'zod';
import { auditOf } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ADMIN_ROLES, OPS_ROLES } from '../../domain/roles.ts';
import { listExecutorRows, setExecutorStatus } from '../../store/registry.ts';
import { defineRoute } from '../http/route.ts';
import { listOf, noBody, noParams, noQuery } from '../http/schemas.ts';
import { executorView, registryKey, updateRegistryStatus } from './schema.ts';
import { executorViewOf, mergeByKey } from './view.ts';

export const listExecutorsRoute = defineRoute({
  id: 'listExecutors',
  method: 'GET',
  acts: 'never',
  power: 'reads',
  path: '/executors',
  roles: OPS_ROLES,
  tag: 'Registries',
  summary: 'List executors',
  description: 'Stored entries and those registered in this process, merged by key.',
  params: noParams,
  query: noQuery,
  body: noBody,
  response: listOf(executorView),
  errors: [],
  handler: async (_input, { db, executors }) => {
    const rows = new Map((await listExecutorRows(db)).map((row) => [row.executor_key, row]));
    const declared = new Map(executors.list().map((each) => [each.executor_key, each]));
    return {
      status: 200,
      body: mergeByKey(rows, declared).map((each) =>
        executorViewOf(each.key, each.row, each.declared),
      ),
    };
  },
});

export const updateExecutorRoute = defineRoute({
  id: 'updateExecutorStatus',
  method: 'PATCH',
  power: { widens: 'executors' },
  path: '/executors/{executor_key}',
  roles: ADMIN_ROLES,
  tag: 'Registries',
  summary: 'Switch an executor on or off',
  description: 'Blocks or allows new approvals and submits; nothing is reloaded.',
  params: z.strictObject({ executor_key: registryKey }),
  query: noQuery,
  body: updateRegistryStatus,
  response: executorView,
  errors: ['executor_not_found'],
  handler: async ({ params, body, requester }, { db, executors }) => {
    const key = params.executor_key;
    const declared = executors.list().find((each) => each.executor_key === key);
    const outcome = await setExecutorStatus(db, {
      key,
      declared,
      status: body.status,
      audit: [
        auditOf(requester, {
          action: 'executor.update_status',
          entity_type: 'executor',
          entity_key: key,
          ...(body.reason === undefined ? {} : { reason: body.reason }),
          details: { status: body.status },
        }),
      ],
    });
    if (outcome === null)
      throw new ServiceError('executor_not_found', { context: { executor_key: key } });
    return { status: 200, body: executorViewOf(key, outcome.row, declared) };
  },
});
