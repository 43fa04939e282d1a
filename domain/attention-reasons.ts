/** Why a movement may need a person; read by the API, the database's rule and the run alike. */
import { isObject } from './json.ts';
import type { MovementState } from './states/movement.ts';

export const ATTENTION_REASONS = [
  'approval',
  'approval_expires_soon',
  'unknown_outcome',
  'manual_gate',
  'failed',
  'lane_stuck',
  'lane_blocked',
  'delivery_late',
  'executor_unavailable',
  'observed_long',
] as const;
export type AttentionReason = (typeof ATTENTION_REASONS)[number];

/** Marks a node that waits before its fence; the SQL function `lane_blocker` reads this code. */
export const LANE_BLOCKED = 'LANE_BLOCKED';

/**
 * Marks a node whose nonce must be used up by a zero-value transaction that cannot be signed or
 * paid for; the SQL function `take_lanes` reads this code.
 */
export const LANE_STUCK = 'LANE_STUCK';

/**
 * Marks a node that looks for a late delivery of a bridge; the SQL function `attention_of` reads
 * this code.
 */
export const DELIVERY_LATE = 'BRIDGE_DELIVERY_LATE';

/**
 * Payload of the attention signal: the reason, and the node that causes it. Null: the movement's
 * state already says why.
 */
export type SignalledAttention = {
  readonly reason: AttentionReason;
  readonly node_key: string | null;
} | null;

/**
 * Reads the signal's payload; null for anything malformed, since anyone with access to Temporal can
 * send it.
 */
export function readSignal(value: unknown): SignalledAttention {
  if (!isObject(value)) return null;
  const { reason, node_key } = value;
  const known = ATTENTION_REASONS.find((each) => each === reason);
  if (known === undefined) return null;
  return { reason: known, node_key: typeof node_key === 'string' ? node_key : null };
}

/**
 * What a state says by itself. `attention_of` (prisma/functions) may say more of a movement, since
 * it knows the time and the executors; activities/relays/attention.ts tells a run when it does.
 */
export const ATTENTION_OF_STATE: Readonly<Partial<Record<MovementState, AttentionReason>>> = {
  PENDING_APPROVAL: 'approval',
  WAITING_MANUAL_ACTION: 'manual_gate',
  MANUAL_INTERVENTION: 'unknown_outcome',
  FAILED: 'failed',
};

/** Reasons that no state implies, so that the run learns of them by a signal. */
export const SIGNALLED_REASONS: readonly AttentionReason[] = ATTENTION_REASONS.filter(
  (reason) => !Object.values(ATTENTION_OF_STATE).includes(reason),
);
