/** Decides what a person should do about a capital transfer. */
import type { AttentionReason } from '../attention-reasons.ts';
import { VENUE_ENTRY_CHANGED } from '../send/at-venue.ts';
import { SHOWN_OTHERWISE } from './provider.ts';
import type { TransferState } from '../states/capital-transfer.ts';
import { stuckSentence, type StuckRun } from '../stuck-runs.ts';

/** A run that cannot go on, with what its last failed task reported. */
export type StuckTransferRun = StuckRun & { readonly message: string | null };

export interface TransferAttention {
  readonly reason: AttentionReason;
  readonly message: string;
  /** Why the transfer waits, or what its run reported; null: neither gave a reason. */
  readonly last_answer: string | null;
  readonly actions: readonly { readonly action: 'resolve'; readonly consequence: string }[];
}

const RESOLVE = {
  action: 'resolve',
  consequence:
    'You state the outcome. Completed: the reserved amount counts as moved. Failed: the reserved amount is released; refused while the send may be under way, its provider last showed it as pending or otherwise than ordered, or the last look could not see it.',
} as const;

/**
 * Returns what a person should do; null while no person is needed. A transfer becomes
 * MANUAL_INTERVENTION if its provider has not confirmed it within the usual time
 * (SVC_CAPITAL_TRANSFER_PENDING_TIMEOUT_SECONDS), or shows it otherwise than ordered. That its run
 * cannot go on comes first. One that has not been sent for ten minutes because clocks differ needs
 * somebody who sets the clock.
 */
export function transferAttention({
  request_state,
  provider,
  error_code,
  error_message,
  stuck_run,
  clock_wait,
}: {
  readonly request_state: TransferState;
  readonly provider: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly stuck_run: StuckTransferRun | null;
  /** Which clock differs, once that has lasted; null: none, or not for so long. */
  readonly clock_wait: string | null;
}): TransferAttention | null {
  const waits = request_state === 'MANUAL_INTERVENTION';
  const actions = waits ? [RESOLVE] : [];
  if (stuck_run !== null)
    return {
      reason: 'run_stuck',
      message: stuckSentence(stuck_run),
      last_answer: stuck_run.message,
      actions,
    };
  if (!waits)
    return clock_wait === null
      ? null
      : {
          reason: 'clock_difference',
          message: clockSentence(request_state, clock_wait),
          last_answer: clock_wait,
          actions: [],
        };
  return {
    reason: 'observed_long',
    message: waitSentence(provider, error_code),
    last_answer: error_message,
    actions,
  };
}

function waitSentence(provider: string, error_code: string | null): string {
  if (error_code === VENUE_ENTRY_CHANGED)
    return 'The venue keys of the transfer mean other accounts by now than those it was created for, so no look can see it. Point the entries back; it is looked for by itself then.';
  return SHOWN_OTHERWISE.includes(error_code ?? '')
    ? `${provider} shows the transfer twice, or otherwise than ordered. Check the provider's records before anything else is moved.`
    : `${provider} has not confirmed the transfer within the usual time. The service keeps asking; check the provider's records.`;
}

function clockSentence(state: TransferState, clock_wait: string): string {
  return state === 'CREATED'
    ? `The transfer is not sent: ${clock_wait}. It goes on by itself then. If it waits as long as a confirmation may take, it fails and has moved nothing.`
    : `The last send did not land, and the transfer is not sent again: ${clock_wait}. It goes on by itself then. If it waits as long as a confirmation may take, a person must state the outcome.`;
}
