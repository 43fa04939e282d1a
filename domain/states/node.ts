/** The lifecycle of one node of a movement. */
import type { TransitionTable } from './table.ts';

export const NODE_STATES = [
  'BLOCKED',
  'READY',
  'SUBMITTING',
  'SUBMITTED',
  'OBSERVING',
  'COMPLETED',
  'FAILED',
  'UNKNOWN',
  'SKIPPED',
  'CANCELLED',
] as const;
export type NodeState = (typeof NODE_STATES)[number];

export const NODE_TABLE: TransitionTable<NodeState> = {
  entity: 'node',
  moves: {
    BLOCKED: ['READY', 'SKIPPED', 'CANCELLED'],
    // Without a submit (observe and gate nodes), or after a look at an earlier attempt, READY moves
    // directly to the state that was found. A gate returns to BLOCKED when the node that had opened
    // it is retried.
    READY: ['SUBMITTING', 'OBSERVING', 'COMPLETED', 'FAILED', 'UNKNOWN', 'CANCELLED', 'BLOCKED'],
    SUBMITTING: ['SUBMITTED', 'COMPLETED', 'FAILED', 'UNKNOWN', 'READY'],
    SUBMITTED: ['OBSERVING'],
    OBSERVING: ['COMPLETED', 'FAILED', 'UNKNOWN'],
    UNKNOWN: ['OBSERVING', 'COMPLETED', 'FAILED', 'READY'],
    FAILED: ['READY'],
    SKIPPED: ['BLOCKED'],
    // READY: only for an allowance that was taken back meanwhile; a retry sets it again. OBSERVING:
    // only for a payment that an operator reassigned to another node.
    COMPLETED: ['READY', 'OBSERVING'],
    CANCELLED: [],
  },
};

/**
 * States in which nothing more happens to a node unless an operator acts. UNKNOWN is not one of
 * them.
 */
export const SETTLED_NODE_STATES: readonly NodeState[] = [
  'COMPLETED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
];

/** States past the send fence without a proven outcome: an effect may exist or still appear. */
export const IN_FLIGHT_NODE_STATES: readonly NodeState[] = [
  'SUBMITTING',
  'SUBMITTED',
  'OBSERVING',
  'UNKNOWN',
];

export function isSettled(state: NodeState): boolean {
  return SETTLED_NODE_STATES.includes(state);
}
