/** Handlers that bind, read and pause strategies at the perps venue. */
import type { z } from 'zod';
import { auditOf, type Requester } from '../../../domain/commands/context.ts';
import { ServiceError } from '../../../domain/errors.ts';
import { ExecutorFault } from '../../../domain/executor.ts';
import type { PerpBinding, PerpMaster } from '../../../domain/perps/registry.ts';
import { checksummed } from '../../../platform/evm-address.ts';
import {
  createPerpBinding,
  pausePerpBinding,
  readPerpBinding,
  readPerpMaster,
  type BindingChange,
} from '../../../store/perp-venue.ts';
import type { PerpRole } from '../client.ts';
import { auditedRefusal } from '../../../api/audit/refused.ts';
import type { ApiDependencies } from '../../../api/dependencies.ts';
import type { Reply } from '../../../api/http/route.ts';
import type { bindingCreate, bindingResponse, pauseRequest } from './schema.ts';
import { bindingView, subjectOf } from './shown.ts';

type Answer = Reply<z.input<typeof bindingResponse>>;

/** Limit of a request to the venue; short, since a caller waits. */
const ANSWER_WITHIN_MS = 5_000;

export interface OfStrategy {
  readonly params: { readonly strategy_id: string };
}

/**
 * Binds a strategy, after the venue has confirmed that the sub-account belongs to the master. An
 * equal repeat returns the binding without a request to the venue.
 */
export async function createBinding(
  {
    body,
    requester,
  }: { readonly body: z.output<typeof bindingCreate>; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Answer> {
  const { strategy_id, max_agent_balance } = body;
  const requested = {
    strategy_id,
    max_agent_balance,
    sub_account_address: body.sub_account_address?.toLowerCase() ?? null,
  };
  const subject = subjectOf('perp_binding', 'create', strategy_id, body);
  return auditedRefusal(deps, requester, subject, async () => {
    const known = await readPerpBinding(deps.db, strategy_id);
    if (known !== null) return repeated(known, requested);
    const master = await readPerpMaster(deps.db);
    if (master === null) throw new ServiceError('master_account_missing');
    if (requested.sub_account_address !== null)
      await mustBeSubAccount(requested.sub_account_address, master, deps);
    const audit = auditOf(requester, subject);
    return replyOf(await createPerpBinding(deps.db, requested, audit), requested);
  });
}

type Requested = Pick<PerpBinding, 'strategy_id' | 'sub_account_address' | 'max_agent_balance'>;

function replyOf(change: BindingChange, requested: Requested): Answer {
  switch (change.outcome) {
    case 'created':
      return { status: 200, body: bindingView(change.row) };
    case 'same':
    case 'strategy_binding_exists':
      return repeated(change.row, requested);
    case 'sub_account_bound':
      throw new ServiceError('sub_account_bound', {
        context: {
          sub_account_address: checksummed(requested.sub_account_address ?? ''),
          strategy_id: change.row.strategy_id,
        },
      });
    case 'master_account_missing':
      throw new ServiceError('master_account_missing');
  }
}

function repeated(known: PerpBinding, requested: Requested): Answer {
  if (
    known.sub_account_address !== requested.sub_account_address ||
    known.max_agent_balance !== requested.max_agent_balance
  )
    throw new ServiceError('strategy_binding_exists', { context: { binding: bindingView(known) } });
  return { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: bindingView(known) };
}

async function mustBeSubAccount(
  address: string,
  { master_address }: PerpMaster,
  { venues }: ApiDependencies,
): Promise<void> {
  const context = { sub_account_address: checksummed(address) };
  const perp = venues?.perp;
  if (perp === undefined) throw new ServiceError('perp_venue_not_bound');
  let reported: PerpRole;
  try {
    reported = await perp.client.role(address, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    throw new ServiceError('venue_unavailable', { context, cause: error });
  }
  if (reported.role !== 'subAccount' || reported.master !== master_address)
    throw new ServiceError('sub_account_not_of_master', {
      context: { ...context, role: reported.role },
    });
}

export async function getBinding(
  { params: { strategy_id } }: OfStrategy,
  { db }: ApiDependencies,
): Promise<Answer> {
  const found = await readPerpBinding(db, strategy_id);
  if (found === null) throw notBound(strategy_id);
  return { status: 200, body: bindingView(found) };
}

/** Pauses or resumes a strategy at the venue. */
export async function pauseStrategy(
  {
    params: { strategy_id },
    body,
    requester,
  }: OfStrategy & {
    readonly body: z.output<typeof pauseRequest>;
    readonly requester: Requester;
  },
  { db }: ApiDependencies,
): Promise<Answer> {
  const { paused, reason } = body;
  const subject = subjectOf('perp_binding', 'pause', strategy_id, { paused });
  const audit = auditOf(requester, { ...subject, reason });
  const change = await pausePerpBinding(db, { strategy_id, paused, reason }, audit);
  if (change === null) throw notBound(strategy_id);
  return { status: 200, body: bindingView(change.row) };
}

export function notBound(strategy_id: string): ServiceError {
  return new ServiceError('strategy_binding_not_found', { context: { strategy_id } });
}
