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
    // Without a submit (observe and gate nodes) or after asking about an earlier attempt, READY
    // moves straight to what was found. A gate is BLOCKED again when what had opened it is retried.
    READY: ['SUBMITTING', 'OBSERVING', 'COMPLETED', 'FAILED', 'UNKNOWN', 'CANCELLED', 'BLOCKED'],
    SUBMITTING: ['SUBMITTED', 'COMPLETED', 'FAILED', 'UNKNOWN', 'READY'],
    SUBMITTED: ['OBSERVING'],
    OBSERVING: ['COMPLETED', 'FAILED', 'UNKNOWN'],
    UNKNOWN: ['OBSERVING', 'COMPLETED', 'FAILED', 'READY'],
    FAILED: ['READY'],
    SKIPPED: ['BLOCKED'],
    // READY only of an allowance that was taken back since: a retry sets it anew. OBSERVING only of
    // a payment that a person reassigned to another node.
    COMPLETED: ['READY', 'OBSERVING'],
    CANCELLED: [],
  },
};

/**
 * Nothing further happens to a node in one of these unless an operator acts. UNKNOWN is not among
 * them.
 */
export const SETTLED_NODE_STATES: readonly NodeState[] = [
  'COMPLETED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
];

/** Past the fence and not yet proven: an effect may exist or still appear. */
export const IN_FLIGHT_NODE_STATES: readonly NodeState[] = [
  'SUBMITTING',
  'SUBMITTED',
  'OBSERVING',
  'UNKNOWN',
];

export function isSettled(state: NodeState): boolean {
  return SETTLED_NODE_STATES.includes(state);
}
