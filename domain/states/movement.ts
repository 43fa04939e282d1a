/** The lifecycle of a movement. */
import type { TransitionTable } from './table.ts';

export const MOVEMENT_STATES = [
  'PENDING_APPROVAL',
  'APPROVED',
  'EXECUTING',
  'COMPLETED',
  'FAILED',
  'WAITING_MANUAL_ACTION',
  'MANUAL_INTERVENTION',
  'REJECTED',
  'EXPIRED',
  'CANCELLED',
] as const;
export type MovementState = (typeof MOVEMENT_STATES)[number];

export const MOVEMENT_TABLE: TransitionTable<MovementState> = {
  entity: 'movement',
  moves: {
    PENDING_APPROVAL: ['APPROVED', 'REJECTED', 'EXPIRED', 'CANCELLED'],
    APPROVED: ['EXECUTING', 'CANCELLED'],
    EXECUTING: ['COMPLETED', 'FAILED', 'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION', 'CANCELLED'],
    WAITING_MANUAL_ACTION: ['EXECUTING', 'MANUAL_INTERVENTION', 'CANCELLED'],
    MANUAL_INTERVENTION: ['EXECUTING', 'WAITING_MANUAL_ACTION', 'CANCELLED'],
    FAILED: ['EXECUTING'],
    COMPLETED: [],
    REJECTED: [],
    EXPIRED: [],
    CANCELLED: [],
  },
};

/** States in which a movement has ended, unless an operator retries it. */
export const ENDED_STATES: readonly MovementState[] = [
  'COMPLETED',
  'FAILED',
  'REJECTED',
  'EXPIRED',
  'CANCELLED',
];

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'expired'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

export const RESERVATION_STATUSES = ['none', 'held', 'released', 'consumed'] as const;
export type ReservationStatus = (typeof RESERVATION_STATUSES)[number];

/** The states in which each command is allowed; elsewhere it fails with 409 `invalid_state`. */
export const ACTION_STATES = {
  approve: ['PENDING_APPROVAL'],
  withdraw_approval: ['PENDING_APPROVAL'],
  reject: ['PENDING_APPROVAL'],
  resume: ['WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION'],
  retry: ['FAILED', 'MANUAL_INTERVENTION', 'WAITING_MANUAL_ACTION', 'EXECUTING', 'CANCELLED'],
  cancel: [
    'PENDING_APPROVAL',
    'APPROVED',
    'EXECUTING',
    'WAITING_MANUAL_ACTION',
    'MANUAL_INTERVENTION',
  ],
  resolve: ['EXECUTING', 'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION', 'CANCELLED'],
  // CANCELLED and COMPLETED: a late landing (domain/commands/acknowledge.ts), and nothing else.
  acknowledge: ['FAILED', 'CANCELLED', 'COMPLETED'],
  cancel_transaction: ['EXECUTING', 'WAITING_MANUAL_ACTION', 'MANUAL_INTERVENTION', 'CANCELLED'],
} as const satisfies Record<string, readonly MovementState[]>;
export type MovementAction = keyof typeof ACTION_STATES;
