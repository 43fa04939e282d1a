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
    // FAILED before anything was sent: the service has lost its accounts from its configuration.
    CREATED: ['SUBMITTING', 'FAILED'],
    SUBMITTING: ['PENDING_PROVIDER_CONFIRMATION', 'COMPLETED', 'FAILED'],
    // Back to SUBMITTING only when it is proven that nothing landed, with the same reference.
    PENDING_PROVIDER_CONFIRMATION: ['SUBMITTING', 'COMPLETED', 'FAILED', 'MANUAL_INTERVENTION'],
    MANUAL_INTERVENTION: ['COMPLETED', 'FAILED'],
    COMPLETED: [],
    FAILED: [],
  },
};

/** What an operator may resolve a transfer as; `manual_intervention` leaves the decision open. */
export const TRANSFER_RESOLUTIONS = ['completed', 'failed', 'manual_intervention'] as const;
export type TransferResolution = (typeof TRANSFER_RESOLUTIONS)[number];

/**
 * The states that an operator may resolve; in every other the service itself goes on, or it is
 * over.
 */
export const RESOLVABLE_STATES: readonly TransferState[] = [
  'PENDING_PROVIDER_CONFIRMATION',
  'MANUAL_INTERVENTION',
];
