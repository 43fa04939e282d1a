/** Builds the single database write of the fence, the last check before a send. */
import { LANE_BLOCKED } from '../../domain/attention-reasons.ts';
import { CLOCK_DIFFERENCE } from '../../domain/send/clocks.ts';
import type { PayeeAddress } from '../../domain/allowlist/match.ts';
import type { ExecutionContext } from '../../domain/executor.ts';
import { SYSTEM_ACTOR } from '../../domain/roles.ts';
import { fenced } from '../../domain/send/epoch.ts';
import type { NodeChange, Transition } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { Required } from '../requirements/list.ts';
import { ANSWERED } from './settle.ts';
import { entryOf, fieldsOf, type NodeWrite } from './write.ts';

/** Facts of a send that are not in the node's row. */
interface Declared {
  readonly context: ExecutionContext;
  /** Seconds from the fence to `send_not_after`. */
  readonly window: number;
  readonly claim: NodeChange['nonce'] | undefined;
  readonly addresses: readonly PayeeAddress[];
  readonly requirements: Required['requirements'];
  /** Writes of earlier phases that the fence's write records too; `row` already includes them. */
  readonly found: readonly NodeWrite[];
}

/**
 * Returns the write that moves the node from READY to SUBMITTING under a new epoch, if every fact
 * that could forbid the send is still as it was checked. `behind` is the row after that write.
 */
export function fenceWrite(
  row: PhaseRow,
  { context, window, claim, addresses, requirements, found }: Declared,
): { readonly write: Transition; readonly behind: PhaseRow } {
  const signer = row.node.signer_binding;
  const { epoch, send_not_after } = fenced(row.epoch, window);
  const fields = fieldsOf(found);
  const write: Transition = {
    movement_id: row.movement_id,
    // The movement states in which this node may be sent.
    from: row.outlives_cancel
      ? ['CANCELLED', 'EXECUTING', 'WAITING_MANUAL_ACTION']
      : ['EXECUTING', 'WAITING_MANUAL_ACTION'],
    require: {
      executors: [row.node.executor_binding.executor_key],
      addresses,
      flow: { node_key: row.node_key, amount: context.amount },
      requirements,
      signers:
        signer === null
          ? []
          : [
              {
                signer_key: signer.signer_key,
                ...(context.signer === undefined ? {} : { address: context.signer.address }),
              },
            ],
    },
    nodes: [
      {
        node_key: row.node_key,
        from: 'READY',
        moves: ['SUBMITTING'],
        attempt: row.attempt,
        epoch: row.epoch,
        artifacts: fields.artifacts,
        set: {
          ...fields.set,
          submit_epoch: epoch,
          send_not_after,
          amount: context.amount,
          // Clears the missing answers before the fence; they must not count as missing answers
          // about the send.
          ...(row.unanswered > 0 ||
          row.error_code === LANE_BLOCKED ||
          row.error_code === CLOCK_DIFFERENCE
            ? ANSWERED
            : {}),
        },
        ...(claim === undefined ? {} : { nonce: claim }),
      },
    ],
    timeline: [
      ...found.map((write) => entryOf(row, write)),
      {
        event_type: 'node_submitting',
        message: row.error_count > 0 ? 'Submitting again under the same key' : 'Submitting',
        actor: SYSTEM_ACTOR,
        node_key: row.node_key,
        attempt: row.attempt,
        from_state: 'READY',
        to_state: 'SUBMITTING',
        data: {
          idempotency_key: context.idempotency_key,
          amount: context.amount,
          asset: context.asset,
        },
      },
    ],
  };
  // The row was read before the write, so this time is never later than the one that the database
  // stores.
  const send_not_after_ms = row.now_ms + window * 1000;
  const behind = { state: 'SUBMITTING', epoch, amount: context.amount, send_not_after_ms } as const;
  return { write, behind: { ...row, ...behind, unanswered: 0, unanswered_ms: null } };
}
