/** Applies the send rules of domain/send to capital transfers. */
import type { TransferProvider } from './provider.ts';
import type { TransferRow } from './step.ts';
import { afterNotFound, unsettledSeconds, type AfterNotFound } from '../send/not-found.ts';
import { windowSeconds } from '../send/window.ts';

/** The fields of a transfer's row that describe its last send. */
export type TransferSend = Pick<
  TransferRow,
  'state' | 'epoch' | 'acknowledged' | 'sends' | 'send_left_ms' | 'pending_left_ms'
>;

/** Number of sends, each proven to have no effect, after which the transfer fails. */
export const MOST_SENDS = 5;

/**
 * Returns the seconds from the fence (the last check before a send) to `send_not_after`. The
 * sending process calls its provider at once, so no time is added for a worker to take the task. A
 * provider whose venue another process calls starts nothing after the window
 * (`CallOptions.notAfter`).
 */
export function transferWindow({
  timeout_seconds,
}: Pick<TransferProvider, 'timeout_seconds'>): number {
  return windowSeconds({ timeout_seconds, take_seconds: 0 });
}

/** Returns what follows when the provider shows no record of a transfer. */
export function afterTransferNotFound(
  row: TransferSend,
  provider: Pick<TransferProvider, 'same_key_safe' | 'settle_seconds'>,
): AfterNotFound {
  return afterNotFound({
    send_left_ms: row.send_left_ms,
    settle_seconds: provider.settle_seconds,
    same_key_safe: provider.same_key_safe,
    with_person: row.state === 'MANUAL_INTERVENTION',
    // After a database restore, a transfer is looked up first, with the known count of sends.
    never_sent: false,
    accepted: row.acknowledged,
    // A transfer has no retry: if the provider has shown its record, nothing is sent again.
    may_resend: false,
    sends: row.sends,
    most_sends: MOST_SENDS,
    is_late: (row.pending_left_ms ?? 0) <= 0,
    // When the time is over a person decides (interface part 7), since the person may have moved
    // the funds in another way.
    when_late: 'person',
  });
}

/**
 * Returns whether a transfer may pass its fence (the last check before a send): for the first time,
 * or again after a query in this `epoch` found no record. That query may be old, and other
 * processes may have queried since, so the proof is checked again with the present row.
 */
export function maySendTransfer(
  row: TransferSend,
  provider: Pick<TransferProvider, 'same_key_safe' | 'settle_seconds'>,
  epoch: number,
): boolean {
  if (row.epoch !== epoch) return false;
  if (row.state === 'CREATED') return true;
  if (row.state !== 'PENDING_PROVIDER_CONFIRMATION') return false;
  return afterTransferNotFound(row, provider).next === 'send';
}

/**
 * Returns the whole seconds until a person may decide that nothing was moved. A record that the
 * provider has shown and no longer shows may appear again within the settle time, which then runs
 * from the first look that did not find it (`notePending`).
 */
export function undecidableSeconds(
  { send_left_ms }: Pick<TransferSend, 'send_left_ms'>,
  settle_seconds: number,
): number {
  return Math.ceil(unsettledSeconds({ send_left_ms, settle_seconds }));
}
