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
    // FAILED before anything was sent: the transfer's accounts are no longer in the configuration.
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

/**
 * The states that an operator may resolve. In every other state the service continues by itself, or
 * the transfer has ended.
 */
export const RESOLVABLE_STATES: readonly TransferState[] = [
  'PENDING_PROVIDER_CONFIRMATION',
  'MANUAL_INTERVENTION',
];
