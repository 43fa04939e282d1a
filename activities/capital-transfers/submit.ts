/**
 * Sends a capital transfer: passes the fence (the last check in the database), sends once, records
 * the answer. A send without a usable answer is left to `look`.
 */
import { ExecutorFault } from '../../domain/executor.ts';
import { providerOf } from '../../domain/capital-transfers/provider.ts';
import {
  answered,
  failed,
  submitting,
  takenOver,
  type TransferRow,
} from '../../domain/capital-transfers/step.ts';
import type { SubmitTransferArgs } from '../../domain/messages.ts';
import { behindSeconds, CLOCK_DIFFERENCE, MOST_APART_MS } from '../../domain/send/clocks.ts';
import { maySendTransfer, transferWindow } from '../../domain/capital-transfers/send.ts';
import { deadlineOf, leftToSend } from '../../domain/send/window.ts';
import { momentNow } from '../../platform/deadline.ts';
import { readTransferRow } from '../../store/capital-transfers.ts';
import { noteClockWait } from '../../store/transfer-clock-waits.ts';
import { tryAgain } from '../failures.ts';
import { callOptions, withDeadline } from '../call.ts';
import { whileAway } from '../kept.ts';
import { sending } from '../leaving.ts';
import {
  applyStep,
  clocksApart,
  CLOCK_PAUSE_SECONDS,
  orderOf,
  type TransferDependencies,
} from './context.ts';

/** Sends the transfer. Throws when that is not possible yet; the run then tries again. */
export async function submit(
  deps: TransferDependencies,
  { transfer_id, epoch }: SubmitTransferArgs,
): Promise<void> {
  const row = await readTransferRow(deps.db, transfer_id);
  if (row !== null) await sending(deps, { transfer_id }, () => send(deps, row, epoch));
}

async function send(deps: TransferDependencies, row: TransferRow, epoch: number): Promise<void> {
  const { transfer_id } = row;
  const provider = providerOf(deps.providers, row);
  if (provider === undefined) return unbound(deps, row, epoch);
  if (!maySendTransfer(row, provider, epoch)) return;
  const apart = clocksApart(deps, row);
  if (apart !== null) {
    await noteClockWait(deps.db, transfer_id, apart);
    const again = tryAgain(CLOCK_DIFFERENCE, apart, CLOCK_PAUSE_SECONDS);
    return tryAgainOrFail(deps, row, again, { code: CLOCK_DIFFERENCE, message: apart });
  }
  if (waitedTooLong(deps, row) || isAgeUnknown(row)) {
    const message = isAgeUnknown(row)
      ? 'it was created by a clock that was ahead, so its age is not known; nothing was sent'
      : `nothing was sent within ${String(deps.pendingSeconds)} s of its creation`;
    const fault = { code: 'NOT_SENT_IN_TIME', message };
    await applyStep(deps, failed(row, fault, { provider: null }));
    return;
  }
  const window = transferWindow(provider);
  const behind = behindSeconds(deps.clocks?.differences);
  const deadline = deadlineOf(momentNow(), window);
  const fenced = await applyStep(deps, submitting(row, window + behind, deps.pendingSeconds));
  if (!fenced.ok || fenced.row === null) return;
  if (leftToSend(deadline, momentNow()) === null) return;
  try {
    const order = orderOf(fenced.row);
    const answer = await withDeadline(callOptions(), deadline, (limited) =>
      provider.submit(order, limited),
    );
    const step = answered(fenced.row, answer, deps.pendingSeconds);
    // The database refuses this write when a look has taken the transfer over; the look then
    // decides.
    if (step !== null) await whileAway(() => applyStep(deps, step));
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    deps.log.warn(
      { err: error, transfer_id },
      'the send of a capital transfer got no usable answer; a look calls its provider',
    );
    // The window stays while the database's clock is behind: it would end too early by that.
    const isOver = provider.in_process && behind === 0;
    await applyStep(deps, takenOver(fenced.row, deps.pendingSeconds, { isOver }));
  }
}

/**
 * Returns whether a transfer that was never sent is not sent at all, since the order may be useless
 * by now: after a freeze, or when no worker ran. The fence compares its age again.
 */
function waitedTooLong({ pendingSeconds }: TransferDependencies, row: TransferRow): boolean {
  return row.state === 'CREATED' && row.age_ms > pendingSeconds * 1000;
}

/** Returns whether the database's clock was ahead when it was created: its age is not known. */
function isAgeUnknown({ state, age_ms }: TransferRow): boolean {
  return state === 'CREATED' && age_ms < -MOST_APART_MS;
}

/** Throws `again` for a transfer that cannot be sent yet; fails one that waited for too long. */
async function tryAgainOrFail(
  deps: TransferDependencies,
  row: TransferRow,
  again: Error,
  fault: { readonly code: string; readonly message: string },
): Promise<void> {
  if (!waitedTooLong(deps, row)) throw again;
  await applyStep(deps, failed(row, fault, { provider: null }));
}

/**
 * Handles a transfer whose venue accounts this worker lacks. It is tried again, since another
 * worker may have them.
 */
async function unbound(deps: TransferDependencies, row: TransferRow, epoch: number): Promise<void> {
  if (
    row.epoch !== epoch ||
    (row.state !== 'CREATED' && row.state !== 'PENDING_PROVIDER_CONFIRMATION')
  )
    return;
  const code = 'VENUE_NOT_BOUND';
  const message = `no worker is bound to both ${row.source_venue} and ${row.destination_venue}`;
  const here = 'this worker is not bound to the accounts of the transfer';
  await tryAgainOrFail(deps, row, tryAgain(code, here, 1), { code, message });
}
