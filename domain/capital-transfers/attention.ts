/** Decides what a person should do about a capital transfer. */
import type { AttentionReason } from '../attention-reasons.ts';
import type { TransferState } from '../states/capital-transfer.ts';

export interface TransferAttention {
  readonly reason: AttentionReason;
  readonly message: string;
  /** Why the transfer waited; null if the provider gave no reason. */
  readonly last_answer: string | null;
  readonly actions: readonly { readonly action: 'resolve'; readonly consequence: string }[];
}

/**
 * Returns what a person should do; null while no person is needed. A transfer becomes
 * MANUAL_INTERVENTION if its provider has not confirmed it within the usual time
 * (SVC_CAPITAL_TRANSFER_PENDING_TIMEOUT_SECONDS).
 */
export function transferAttention({
  request_state,
  provider,
  error_message,
}: {
  readonly request_state: TransferState;
  readonly provider: string;
  readonly error_message: string | null;
}): TransferAttention | null {
  if (request_state !== 'MANUAL_INTERVENTION') return null;
  return {
    reason: 'observed_long',
    message: `${provider} has not confirmed the transfer within the usual time. The service keeps asking; check the provider's records.`,
    last_answer: error_message,
    actions: [
      {
        action: 'resolve',
        consequence:
          'You state the outcome. Completed: the reserved amount counts as moved. Failed: the reserved amount is released; refused while the send may be under way.',
      },
    ],
  };
}
