/** Sends a capital transfer: fence, send once, record. Anything but a proven answer is left to `look`. */
import { ExecutorFault } from '../../domain/executor.ts';
import { providerOf } from '../../domain/capital-transfers/provider.ts';
import { answered, failed, submitting, takenOver } from '../../domain/capital-transfers/step.ts';
import type { SubmitTransferArgs } from '../../domain/messages.ts';
import { readTransferRow } from '../../store/transfers.ts';
import { tryAgain } from '../failures.ts';
import { callOptions } from '../phases/call.ts';
import { applyStep, orderOf, type TransferDependencies } from './context.ts';

/** Throws when nothing could be tried yet; it is then loaded and tried again. */
export async function submit(deps: TransferDependencies, { transfer_id, epoch }: SubmitTransferArgs): Promise<void> {
  const row = await readTransferRow(deps.db, transfer_id);
  if (row === null || row.epoch !== epoch || (row.state !== 'CREATED' && row.state !== 'PENDING_PROVIDER_CONFIRMATION')) return;
  const provider = providerOf(deps.providers, row);
  if (provider === undefined) {
    // Another worker, or this one after its restart, may know it; nothing was sent, so giving up is safe.
    if (row.state === 'CREATED' && row.age_ms > deps.pendingSeconds * 1000) {
      const fault = { code: 'VENUE_NOT_BOUND', message: `no worker is bound to both ${row.source_venue} and ${row.destination_venue}` };
      await applyStep(deps, failed(row, fault, { provider: null }));
      return;
    }
    throw tryAgain('VENUE_NOT_BOUND', 'this worker is not bound to the accounts of the transfer', 1);
  }
  // Taken before the write, so this process's deadline is never later than the database's.
  const deadline = performance.now() + provider.timeout_seconds * 1000;
  const fenced = await applyStep(deps, submitting(row, provider.timeout_seconds));
  if (!fenced.ok || fenced.row === null) return;
  const left = deadline - performance.now();
  if (left <= 0) return;
  const options = callOptions();
  try {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(Math.ceil(left))]);
    const answer = await provider.submit(orderOf(fenced.row), { ...options, signal });
    const step = answered(fenced.row, answer, deps.pendingSeconds);
    // Refused: a look has taken over meanwhile, and it is the one that tells.
    if (step !== null) await applyStep(deps, step);
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    deps.log.warn({ err: error, transfer_id }, 'a capital transfer was sent and gave no usable answer; its provider is asked');
    await applyStep(deps, takenOver(fenced.row, deps.pendingSeconds, { isOver: true }));
  }
}
