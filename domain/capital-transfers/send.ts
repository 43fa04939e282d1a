/** A capital transfer's send, as the rules of domain/send need it. */
import type { TransferProvider } from './provider.ts';
import type { TransferRow } from './step.ts';
import { afterNotFound, unsettledSeconds, type AfterNotFound } from '../send/not-found.ts';
import { windowSeconds } from '../send/window.ts';

/** The fields of a transfer's row that describe its last send. */
export type TransferSend = Pick<
  TransferRow,
  'state' | 'epoch' | 'acknowledged' | 'sends' | 'send_left_ms' | 'pending_left_ms'
>;

/** Sends without effect, each proven, before the transfer fails. */
export const MOST_SENDS = 5;

/**
 * Seconds from the fence to `send_not_after`: its provider is a module of the process that sends.
 */
export function transferWindow({
  timeout_seconds,
}: Pick<TransferProvider, 'timeout_seconds'>): number {
  return windowSeconds({ timeout_seconds, take_seconds: 0 });
}

/** What follows when the provider shows no record of a transfer. */
export function afterTransferNotFound(
  row: TransferSend,
  provider: Pick<TransferProvider, 'same_key_safe' | 'settle_seconds'>,
): AfterNotFound {
  return afterNotFound({
    send_left_ms: row.send_left_ms,
    settle_seconds: provider.settle_seconds,
    same_key_safe: provider.same_key_safe,
    with_person: row.state === 'MANUAL_INTERVENTION',
    // After a restore a transfer is looked up first, with the count of sends that is known.
    never_sent: false,
    accepted: row.acknowledged,
    // A transfer has no retry: what its provider has shown is never sent again.
    may_resend: false,
    sends: row.sends,
    most_sends: MOST_SENDS,
    is_late: (row.pending_left_ms ?? 0) <= 0,
    // When its time is over a person decides (interface part 7), who may have found another way.
    when_late: 'person',
  });
}

/**
 * Whether a transfer may pass its fence: for the first time, or again after a look under this
 * `epoch` found nothing. The look may be long ago, and others may have looked since: so its proof
 * is checked again with the present row.
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
 * Whole seconds until a person may say that nothing was moved. After the provider has shown its
 * record no other can appear, so only the send itself has to be over then.
 */
export function undecidableSeconds(row: TransferSend, settle_seconds: number): number {
  return Math.ceil(
    unsettledSeconds({
      send_left_ms: row.send_left_ms,
      settle_seconds: row.acknowledged ? 0 : settle_seconds,
    }),
  );
}
