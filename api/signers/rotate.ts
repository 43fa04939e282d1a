/** POST /admin/signers/{signer_key}/rotate */
import type { z } from 'zod';
import { actorOf, auditOf, type Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { readIdentity } from '../../signers/identity.ts';
import {
  readRotation,
  readSenders,
  rotateSigner,
  type RotationRefusal,
  type RotationStart,
} from '../../store/signer-lifecycle.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { takeAt } from '../balances/cover.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { liveIdentity } from '../registries/live-identity.ts';
import type { rotateRequest, rotateResponse } from './schema.ts';

interface Input {
  readonly params: { readonly signer_key: string };
  readonly body: z.output<typeof rotateRequest>;
  readonly requester: Requester;
}

/**
 * Moves the bindings of a signer to its replacement, or only simulates this (`drill`). The
 * replacement reports its address outside any database transaction. The values that the address was
 * compared with are checked again under the locks.
 */
export function rotate(
  { params: { signer_key }, body, requester }: Input,
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof rotateResponse>>> {
  const { replace_with, reason, drill } = body;
  const about = {
    action: 'signer.rotate',
    entity_type: 'signer',
    entity_key: signer_key,
    details: { replace_with, drill },
  } as const;
  const subject = { ...about, details: { ...about.details, reason } };
  return auditedRefusal(deps, requester, subject, async () => {
    const pair = { key: signer_key, other_key: replace_with, ...declared(deps, body, signer_key) };
    const start = await readRotation(deps.db, pair);
    if ('missing' in start)
      throw new ServiceError('signer_not_found', { context: { signer_key: start.missing } });
    if (!drill && !body.ack_impact)
      throw new ServiceError('ack_impact_required', { context: { signer_key } });
    if (start.problem !== null) throw refused(start.problem, signer_key, replace_with);
    const runtime = await identityOf(replace_with, start, deps);
    await refreshPools(replace_with, deps);
    const known_addresses = await addressesOf(signer_key, start, deps);
    // Read again: the earlier address may be seconds old after the balances were fetched.
    if ((await liveIdentity(deps.signers.get(replace_with))).address !== runtime)
      throw refused({ error: 'signer_runtime_identity_unavailable' }, signer_key, replace_with);
    const outcome = await rotateSigner(deps.db, {
      ...pair,
      drill,
      reason,
      known_addresses,
      asked: { pin: start.pin, runtime, observed_at: start.observed_at },
      take: takeAt(deps),
      actor: actorOf(requester),
      audit: auditOf(requester, { ...about, reason }),
    });
    if (!outcome.ok) throw refused(outcome, signer_key, replace_with);
    return {
      status: 200,
      body: {
        outcome: drill ? 'drilled' : 'changed',
        signer_key,
        replace_with,
        impact: outcome.impact,
        audit_event_id: outcome.audit_event_id,
        signer_rotation_event_id: outcome.event_id,
      },
    };
  });
}

/** Returns both signers' descriptors in memory; a missing row is created from a descriptor. */
function declared(
  { signers }: ApiDependencies,
  { replace_with }: Pick<Input['body'], 'replace_with'>,
  key: string,
) {
  return {
    declared: signers
      .list()
      .filter(({ signer_key }) => signer_key === key || signer_key === replace_with),
  };
}

/** Returns the address of the replacement; its checks are in the order of the reported refusals. */
async function identityOf(
  key: string,
  { pin }: RotationStart,
  { signers }: ApiDependencies,
): Promise<string> {
  const context = { signer_key: key, expected_signer_address: pin };
  const live = await liveIdentity(signers.get(key));
  if (live.problem !== null && !live.answered)
    throw new ServiceError('new_signer_health_check_failed', { context });
  if (pin === null) throw new ServiceError('signer_expected_identity_missing', { context });
  const expected = readIdentity(pin);
  if (!expected.ok) throw new ServiceError('signer_expected_identity_invalid', { context });
  if (live.problem !== null) throw new ServiceError(live.problem, { context });
  if (live.address !== expected.address)
    throw new ServiceError('signer_identity_mismatch', {
      context: { ...context, runtime_address: live.address },
    });
  return live.address;
}

/**
 * Fetches the new signer's balances: a hold moves only if a recent snapshot covers it; otherwise
 * its node stays.
 */
async function refreshPools(key: string, { balances }: ApiDependencies): Promise<void> {
  const own = balances.venues.filter(({ venue_key }) => venue_key.endsWith(`:${key}`));
  await Promise.allSettled(
    own.map(async ({ venue_key }) => balances.refresh(venue_key, { since: performance.now() })),
  );
}

/** Returns every known address of the old signer; without any, the addresses that it sent from. */
async function addressesOf(
  key: string,
  { known_addresses }: RotationStart,
  { signers, db }: ApiDependencies,
): Promise<readonly string[]> {
  const { address } = await liveIdentity(signers.get(key));
  const known = new Set(known_addresses);
  if (address !== null) known.add(address.toLowerCase());
  return known.size > 0 ? [...known] : readSenders(db, key);
}

function refused(problem: RotationRefusal, signer_key: string, replace_with: string): ServiceError {
  return problem.error === 'validation_failed'
    ? new ServiceError(problem.error, {
        context: { cause: problem.cause, signer_key, replace_with },
      })
    : new ServiceError(problem.error, { context: { signer_key: replace_with } });
}
