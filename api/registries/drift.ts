/** POST /registry/verify-drift: compares stored registries with this process's memory. */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import type { ExecutorDescriptor } from '../../domain/executor.ts';
import { ADMIN_ROLES } from '../../domain/roles.ts';
import type { SignerDescriptor } from '../../domain/signer.ts';
import { readIdentity } from '../../signers/identity.ts';
import { writeAudit } from '../../store/audit.ts';
import {
  listExecutorRows,
  listSignerRows,
  type ExecutorRow,
  type SignerRow,
} from '../../store/registry.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { defineRoute, type Reply } from '../http/route.ts';
import { noBody, noParams, noQuery } from '../http/schemas.ts';
import { liveIdentity } from './live-identity.ts';
import { mergeByKey } from './view.ts';
import { driftResponse } from './schema.ts';

type Drift = z.input<typeof driftResponse>['drift'][number];

export const verifyDriftRoute = defineRoute({
  id: 'verifyRegistryDrift',
  method: 'POST',
  power: 'narrows',
  path: '/registry/verify-drift',
  roles: ADMIN_ROLES,
  tag: 'Registries',
  summary: 'Compare the registries with what runs',
  description:
    'Stored entries against those of the process that answers, and pinned addresses against those that signers tell now.',
  params: noParams,
  query: noQuery,
  body: noBody,
  response: driftResponse,
  errors: [],
  handler: verifyDrift,
});

/** Compares and reports; writes only an audit record. */
async function verifyDrift(
  { requester }: { readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof driftResponse>>> {
  const checked_at = new Date().toISOString();
  const executorRows = new Map((await listExecutorRows(deps.db)).map((r) => [r.executor_key, r]));
  const signerRows = new Map((await listSignerRows(deps.db)).map((r) => [r.signer_key, r]));
  const executors = new Map(deps.executors.list().map((each) => [each.executor_key, each]));
  const signers = new Map(deps.signers.list().map((each) => [each.signer_key, each]));
  const drift = [
    ...mergeByKey(executorRows, executors).flatMap(({ key, row, declared }) =>
      ofExecutor(key, row, declared),
    ),
    ...(
      await Promise.all(
        mergeByKey(signerRows, signers).map(({ key, row, declared }) =>
          ofSigner(key, row, declared, deps),
        ),
      )
    ).flat(),
  ];
  const ok = drift.length === 0;
  await writeAudit(deps.db, [
    auditOf(requester, {
      action: 'registry.verify_drift',
      entity_type: 'registry',
      entity_key: 'registry',
      details: { ok, drift },
    }),
  ]);
  return { status: 200, body: { ok, checked_at, drift } };
}

function ofExecutor(
  key: string,
  row: ExecutorRow | undefined,
  declared: ExecutorDescriptor | undefined,
): readonly Drift[] {
  const kind = 'executor';
  if (declared === undefined) return [missing(kind, key, 'missing_in_memory')];
  if (row === undefined) return [missing(kind, key, 'missing_in_database')];
  const observed = declared.endpoint ?? null;
  return row.endpoint === observed
    ? []
    : [{ kind, key, problem: 'endpoint_changed', expected: row.endpoint, observed }];
}

/**
 * Returns a signer's drift. A retired signer may be missing in memory, and only EVM signers have an
 * identity.
 */
async function ofSigner(
  key: string,
  row: SignerRow | undefined,
  declared: SignerDescriptor | undefined,
  { signers }: ApiDependencies,
): Promise<readonly Drift[]> {
  const kind = 'signer';
  if (row?.status === 'retired') return [];
  if (declared === undefined) return [missing(kind, key, 'missing_in_memory')];
  const unstored = row === undefined ? [missing(kind, key, 'missing_in_database')] : [];
  if (declared.chain_family !== 'evm') return unstored;
  const expected = row?.expected_signer_address ?? null;
  const live = await liveIdentity(signers.get(key));
  if (live.address === null)
    return [...unstored, { kind, key, problem: 'identity_unavailable', expected, observed: null }];
  if (expected === null) return unstored;
  const pin = readIdentity(expected);
  return pin.ok && pin.address === live.address
    ? unstored
    : [...unstored, { kind, key, problem: 'identity_mismatch', expected, observed: live.address }];
}

function missing(
  kind: Drift['kind'],
  key: string,
  problem: 'missing_in_memory' | 'missing_in_database',
): Drift {
  return { kind, key, problem, expected: null, observed: null };
}
