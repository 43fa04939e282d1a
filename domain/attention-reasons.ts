/**
 * Why a movement may need a person. The API, a database rule and the workflow use the same list.
 */
import { isObject } from './json.ts';
import type { MovementState } from './states/movement.ts';

export const ATTENTION_REASONS = [
  'approval',
  'approval_expires_soon',
  'approval_unsatisfiable',
  'approval_compromised',
  'unknown_outcome',
  'landed_late',
  'manual_gate',
  'failed',
  'lane_stuck',
  'clock_difference',
  'lane_blocked',
  'delivery_late',
  'executor_unavailable',
  'venue_suspended',
  'withdrawal_quota_exhausted',
  'observed_long',
  'run_stuck',
] as const;
export type AttentionReason = (typeof ATTENTION_REASONS)[number];

/**
 * Marks a node that cannot be sent before an earlier nonce is used. The SQL function `lane_blocker`
 * reads this code.
 */
export const LANE_BLOCKED = 'LANE_BLOCKED';

/**
 * Marks a node that waits until an earlier send of its send lane is explained. The SQL functions
 * `attention_of` and `send_lane_problem` go with it.
 */
export const SEND_LANE_TAKEN = 'SEND_LANE_TAKEN';

/**
 * Marks a node whose nonce must be used up by a zero-value transaction, but that transaction cannot
 * be signed or paid for. The SQL function `take_lanes` reads this code.
 */
export const LANE_STUCK = 'LANE_STUCK';

/**
 * Marks a node that waits for a late delivery of a bridge. The SQL function `attention_of` reads
 * this code.
 */
export const DELIVERY_LATE = 'BRIDGE_DELIVERY_LATE';

/**
 * Marks an UNKNOWN node whose exchange paid, and charged a fee above the limit of the plan or one
 * with which more left than was approved: only what a person makes of that is open.
 */
export const WITHDRAWAL_FEE_ABOVE_LIMIT = 'WITHDRAWAL_FEE_ABOVE_LIMIT';

/**
 * Marks an UNKNOWN node whose executor last reported that its send is under way: it was not
 * observed in time, and may still land. The SQL functions `may_be_resolved` and `is_at_venue` read
 * this code.
 */
export const SEND_UNDER_WAY = 'SEND_UNDER_WAY';

/**
 * Marks a FAILED node that a person has abandoned: no edge fires, it is never retried, its amount
 * stays counted as sent, and its send is still looked for. The SQL function `is_abandoned` reads
 * this code.
 */
export const ABANDONED = 'ABANDONED';

/**
 * Payload of the attention signal: the reason, and the node that causes it (null: no single node).
 * Null: the movement's state already shows the reason.
 */
export type SignalledAttention = {
  readonly reason: AttentionReason;
  readonly node_key: string | null;
} | null;

/**
 * Reads the signal's payload. Returns null for malformed payloads, since anyone with access to
 * Temporal can send one.
 */
export function readSignal(value: unknown): SignalledAttention {
  if (!isObject(value)) return null;
  const { reason, node_key } = value;
  const known = ATTENTION_REASONS.find((each) => each === reason);
  if (known === undefined) return null;
  return { reason: known, node_key: typeof node_key === 'string' ? node_key : null };
}

/**
 * The reason that a movement state implies. `attention_of` (prisma/functions) may find more
 * reasons, since it knows the time and the executors; activities/relays/attention.ts then signals
 * the workflow.
 */
export const ATTENTION_OF_STATE: Readonly<Partial<Record<MovementState, AttentionReason>>> = {
  PENDING_APPROVAL: 'approval',
  WAITING_MANUAL_ACTION: 'manual_gate',
  MANUAL_INTERVENTION: 'unknown_outcome',
  FAILED: 'failed',
};

/** Reasons that no state implies, so the workflow receives them by a signal. */
export const SIGNALLED_REASONS: readonly AttentionReason[] = ATTENTION_REASONS.filter(
  (reason) => !Object.values(ATTENTION_OF_STATE).includes(reason),
);
