/** The lifecycle of a capital transfer. */
import type { TransitionTable } from './table.ts';

export const TRANSFER_STATES = [
  'CREATED',
  'SUBMITTING',
  'PENDING_PROVIDER_CONFIRMATION',
  'COMPLETED',
  'FAILED',
  'MANUAL_INTERVENTION',
] as const;
export type TransferState = (typeof TRANSFER_STATES)[number];

export const TRANSFER_TABLE: TransitionTable<TransferState> = {
  entity: 'capital transfer',
  moves: {
    // FAILED before anything was sent: it waited for too long, or a person stopped it.
    CREATED: ['SUBMITTING', 'FAILED'],
    SUBMITTING: ['PENDING_PROVIDER_CONFIRMATION', 'COMPLETED', 'FAILED'],
    // Back to SUBMITTING, with the same reference, only when it is proven that nothing landed.
    PENDING_PROVIDER_CONFIRMATION: ['SUBMITTING', 'COMPLETED', 'FAILED', 'MANUAL_INTERVENTION'],
    MANUAL_INTERVENTION: ['COMPLETED', 'FAILED'],
    COMPLETED: [],
    FAILED: [],
  },
};

/** The outcomes that an operator may set; `manual_intervention` leaves the decision open. */
export const TRANSFER_RESOLUTIONS = ['completed', 'failed', 'manual_intervention'] as const;
export type TransferResolution = (typeof TRANSFER_RESOLUTIONS)[number];

const WAITING_STATES: readonly TransferState[] = [
  'PENDING_PROVIDER_CONFIRMATION',
  'MANUAL_INTERVENTION',
];

/**
 * Returns the states in which an operator may set this outcome. What was never sent can only be
 * stopped. In every other state the service continues by itself, or the transfer has ended.
 */
export function resolvableStates(resolution: TransferResolution): readonly TransferState[] {
  return resolution === 'failed' ? ['CREATED', ...WAITING_STATES] : WAITING_STATES;
}
