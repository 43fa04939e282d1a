/** Records that the send of an abandoned node landed after all. */
import type { ExecutionResult } from '../executor.ts';
import type { JsonObject } from '../json.ts';
import { SYSTEM_ACTOR } from '../roles.ts';
import { ARRIVED_OTHERWISE, PAID_OTHERWISE } from '../send/at-venue.ts';
import { storable } from '../text.ts';
import { NOW, type NodeRef, type Transition } from '../transition.ts';

interface AbandonedNode extends NodeRef {
  readonly attempt: number;
  /** The submit epoch that the node must have; raised, so that a second look writes nothing. */
  readonly epoch?: number;
}

/** Returns whether the answer shows that funds moved, as planned or otherwise. */
export function isLanding({ next_state, error_code, external_ref }: ExecutionResult): boolean {
  if (next_state === 'COMPLETED') return true;
  if (error_code === undefined) return false;
  if (next_state !== 'UNKNOWN')
    return next_state === 'OBSERVING' && ARRIVED_OTHERWISE.includes(error_code);
  return external_ref !== undefined && PAID_OTHERWISE.includes(error_code);
}

/**
 * Returns the transition for a late landing: the movement is in attention until a person has
 * acknowledged the landing, even if its failure is acknowledged. State and error code stay; nothing
 * follows from it by itself.
 */
export function landedLate(
  { movement_id, node_key, attempt, epoch }: AbandonedNode,
  seen: Partial<ExecutionResult>,
): Transition {
  const { external_ref } = seen;
  const reference = external_ref === undefined ? {} : { external_ref };
  return {
    movement_id,
    nodes: [
      {
        node_key,
        from: 'FAILED',
        moves: [],
        attempt,
        ...(epoch === undefined ? {} : { epoch }),
        set: {
          ...reference,
          ...(epoch === undefined ? {} : { submit_epoch: epoch + 1 }),
          next_late_look: null,
          landed_late_at: NOW,
          // An earlier attempt may have a mark that a person has seen.
          landing_seen_at: null,
        },
      },
    ],
    timeline: [
      {
        event_type: 'node_recovered',
        message: 'Landed late: a person had abandoned the node before',
        actor: SYSTEM_ACTOR,
        node_key,
        attempt,
        data: { late: true, ...reference, ...differenceOf(seen) },
      },
    ],
  };
}

/** Returns why what landed is not as planned; nothing if it is. */
function differenceOf({
  next_state,
  error_code,
  error_message,
}: Partial<ExecutionResult>): JsonObject {
  if (next_state === 'COMPLETED' || error_code === undefined) return {};
  return {
    error_code,
    ...(error_message === undefined ? {} : { error_message: storable(error_message, 500) }),
  };
}
