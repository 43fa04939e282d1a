/** POST /capital-transfers/{transfer_id}/actions/resolve */
import type { Requester } from '../../domain/commands/context.ts';
import { SHOWN_OTHERWISE } from '../../domain/capital-transfers/provider.ts';
import { resolved, type TransferRow } from '../../domain/capital-transfers/step.ts';
import { ServiceError } from '../../domain/errors.ts';
import { LONGEST_SETTLE_SECONDS } from '../../domain/executor.ts';
import { undecidableSeconds } from '../../domain/capital-transfers/send.ts';
import { VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import { resolvableStates, type TransferState } from '../../domain/states/capital-transfer.ts';
import { applyTransferStep } from '../../store/capital-transfer-steps.ts';
import { readTransferRow } from '../../store/capital-transfers.ts';
import { databaseAheadMs } from '../../store/clock.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { afterAccepting } from '../http/accepted.ts';
import type { Reply } from '../http/route.ts';
import { withoutSecretsInMessage } from '../redact.ts';
import { one } from './read.ts';
import type { TransferResolveBody, TransferView } from './schema.ts';

/** How often a resolution is decided again after the provider's answer changed the transfer. */
const TRIES = 5;

/**
 * Resolves a transfer that the provider does not settle, stops one that was never sent, or leaves
 * the transfer open for another person.
 */
export async function resolve(
  input: {
    readonly params: { readonly transfer_id: string };
    readonly body: TransferResolveBody;
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<TransferView>> {
  const { params, requester } = input;
  const subject = {
    action: 'capital_transfer.resolve',
    entity_type: 'capital_transfer',
    entity_key: params.transfer_id,
  } as const;
  await auditedRefusal(deps, requester, subject, () => settle(input, deps));
  deps.transfers?.handOver(params.transfer_id, 'resolve');
  return { status: 200, body: await afterAccepting(() => one(params.transfer_id, deps)) };
}

async function settle(
  { params, body, requester }: Parameters<typeof resolve>[0],
  { db, transfers, redact }: ApiDependencies,
): Promise<void> {
  const { transfer_id } = params;
  for (let attempt = 1; ; attempt += 1) {
    const row = await readTransferRow(db, transfer_id);
    if (row === null)
      throw new ServiceError('capital_transfer_not_found', { context: { transfer_id } });
    const states = resolvableStates(body.resolution);
    if (!states.includes(row.state) || attempt > TRIES) throw invalidState(row, states);
    // The settle time of a provider that is no longer bound is unknown: use the longest allowed.
    const settle_seconds = transfers?.settleSeconds(row) ?? LONGEST_SETTLE_SECONDS;
    const ahead_ms = body.resolution === 'failed' ? await databaseAheadMs(db) : 0;
    const seconds = undecidableSeconds(row, settle_seconds + ahead_ms / 1_000);
    if (body.resolution === 'failed' && row.pending_at_provider) throw stillOpen(row);
    if (body.resolution === 'failed' && row.error_code === VENUE_ENTRY_CHANGED)
      throw unseen(row, redact);
    if (body.resolution === 'failed' && seconds > 0) throw underWay(row, seconds, states);
    const { ok } = await applyTransferStep(db, resolved(row, body, requester));
    if (ok) return;
  }
}

function invalidState(row: TransferRow, allowed_states: readonly TransferState[]): ServiceError {
  return new ServiceError('invalid_state', {
    message: `A capital transfer in ${row.state} cannot be resolved with this outcome.`,
    context: { current_state: row.state, allowed_states },
  });
}

/** Returns the refusal while the provider has the transfer, by its last answer. */
function stillOpen({ transfer_id, provider, error_code }: TransferRow): ServiceError {
  return new ServiceError('send_still_open', {
    message: SHOWN_OTHERWISE.includes(error_code ?? '')
      ? `${provider} shows the transfer twice or otherwise than ordered (${error_code ?? ''}), so it cannot be resolved as failed. Look at its records, set right there what was moved, and resolve the transfer as completed.`
      : `${provider} last showed the transfer as pending, so it cannot be resolved as failed. Wait until ${provider} ends it, which ends the transfer by itself, or have it ended there.`,
    context: { transfer_id },
  });
}

/** Returns the refusal while no look can see the transfer. */
function unseen(
  { transfer_id, venue_entries }: TransferRow,
  redact: ApiDependencies['redact'],
): ServiceError {
  const message = `The venue keys of the transfer mean other accounts by now than those it was created for, so no look can see it, and it cannot be resolved as failed. Point the entries back to [${venue_entries ?? ''}] and let it be looked for, or resolve it as completed.`;
  return new ServiceError('venue_entry_changed', {
    message: withoutSecretsInMessage(message, redact),
    context: { transfer_id },
  });
}

/** Returns the refusal while the last send may still move funds. */
function underWay(
  row: TransferRow,
  seconds: number,
  allowed_states: readonly TransferState[],
): ServiceError {
  return new ServiceError('invalid_state', {
    message: `The last send may still be under way, or its record may still appear; it can be resolved as failed in ${String(seconds)} s.`,
    context: { current_state: row.state, allowed_states },
  });
}
