/** Records that the send of an abandoned node landed after all. */
import { SYSTEM_ACTOR } from '../roles.ts';
import { NOW, type NodeRef, type Transition } from '../transition.ts';

interface AbandonedNode extends NodeRef {
  readonly attempt: number;
  /** The submit epoch that the node must have; raised, so that a second look writes nothing. */
  readonly epoch?: number;
}

/**
 * Returns the transition for a late landing: the movement is in attention again, even if a person
 * has acknowledged its failure. State and error code stay; nothing follows from it by itself.
 */
export function landedLate(
  { movement_id, node_key, attempt, epoch }: AbandonedNode,
  seen: { readonly external_ref?: string | undefined },
): Transition {
  const { external_ref } = seen;
  const reference = external_ref === undefined ? {} : { external_ref };
  return {
    movement_id,
    set: { acknowledged_at: null },
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
        data: { late: true, ...reference },
      },
    ],
  };
}
