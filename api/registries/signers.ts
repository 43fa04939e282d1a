/** GET signers and PATCH signers/{signer_key}. */
import { z } from 'zod';
import { auditOf } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ADMIN_ROLES, OPS_ROLES } from '../../domain/roles.ts';
import { SWITCHED_STATUSES } from '../../domain/states/signer.ts';
import { readLanes } from '../../store/lanes.ts';
import { listSignerRows, setSignerStatus } from '../../store/registry.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { afterAccepting } from '../http/accepted.ts';
import { defineRoute } from '../http/route.ts';
import { listOf, noBody, noParams, noQuery } from '../http/schemas.ts';
import { registryKey, signerView, updateRegistryStatus } from './schema.ts';
import { mergeByKey, signerViewOf } from './view.ts';

export const listSignersRoute = defineRoute({
  id: 'listSigners',
  method: 'GET',
  acts: 'never',
  power: 'reads',
  path: '/signers',
  roles: OPS_ROLES,
  tag: 'Registries',
  summary: 'List signers',
  description: 'Stored entries and those registered in this process, merged by key.',
  params: noParams,
  query: noQuery,
  body: noBody,
  response: listOf(signerView),
  errors: [],
  handler: async (_input, { db, signers, chains }) => {
    const [listed, lanes] = await Promise.all([listSignerRows(db), readLanes(db)]);
    const rows = new Map(listed.map((row) => [row.signer_key, row]));
    const declared = new Map(signers.list().map((each) => [each.signer_key, each]));
    return {
      status: 200,
      body: mergeByKey(rows, declared).map((each) =>
        signerViewOf(each.key, each.row, each.declared, { lanes, chains }),
      ),
    };
  },
});

export const updateSignerRoute = defineRoute({
  id: 'updateSignerStatus',
  method: 'PATCH',
  power: { widens: 'signers' },
  path: '/signers/{signer_key}',
  roles: ADMIN_ROLES,
  tag: 'Registries',
  summary: 'Switch a signer on or off',
  description:
    'Blocks or allows new approvals and submits. A deprecated or retired signer stays what it is.',
  params: z.strictObject({ signer_key: registryKey }),
  query: noQuery,
  body: updateRegistryStatus,
  response: signerView,
  errors: ['signer_not_found', 'invalid_state'],
  handler: ({ params, body, requester }, deps) => {
    const key = params.signer_key;
    const declared = deps.signers.list().find((each) => each.signer_key === key);
    const about = {
      action: 'signer.update_status',
      entity_type: 'signer',
      entity_key: key,
    } as const;
    const { status, reason } = body;
    const stated = reason === undefined ? {} : { reason };
    return auditedRefusal(
      deps,
      requester,
      { ...about, details: { status, ...stated } },
      async () => {
        const audit = [auditOf(requester, { ...about, ...stated, details: { status } })];
        const outcome = await setSignerStatus(deps.db, { key, declared, status, audit });
        if (outcome === null)
          throw new ServiceError('signer_not_found', { context: { signer_key: key } });
        if (!outcome.ok) {
          const context = {
            signer_key: key,
            current_state: outcome.row.status,
            allowed_states: SWITCHED_STATUSES,
          };
          throw new ServiceError('invalid_state', { context });
        }
        const { chains } = deps;
        const lanes = await afterAccepting(() => readLanes(deps.db));
        return { status: 200, body: signerViewOf(key, outcome.row, declared, { lanes, chains }) };
      },
    );
  },
});
