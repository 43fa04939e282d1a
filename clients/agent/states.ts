/** The states of a movement. */
import type { MovementState } from '../http/wait.ts';

const KNOWN: Readonly<Record<MovementState, true>> = {
  PENDING_APPROVAL: true,
  APPROVED: true,
  EXECUTING: true,
  COMPLETED: true,
  FAILED: true,
  WAITING_MANUAL_ACTION: true,
  MANUAL_INTERVENTION: true,
  REJECTED: true,
  EXPIRED: true,
  CANCELLED: true,
};

/** All movement states of the API document. */
export const MOVEMENT_STATES = Object.keys(KNOWN) as readonly MovementState[];
