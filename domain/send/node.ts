/** A node's send, as input of the rules in this folder. */
import type { ExecutorDescriptor } from '../executor.ts';
import { TAKE_SECONDS } from '../messages.ts';
import type { CompiledNode } from '../plan/types.ts';
import type { NodeState } from '../states/node.ts';
import type { NodeFields } from '../transition.ts';
import { afterNotFound, type AfterNotFound } from './not-found.ts';
import { windowSeconds } from './window.ts';

/**
 * The fields of a node's row that describe its last send. Times are milliseconds by the database's
 * clock.
 */
export interface NodeSend {
  readonly state: NodeState;
  /** Whether the last send has to be looked up before anything else. */
  readonly recover_first: boolean;
  /** Whether the row comes from a restored database, which may have lost sends of the node. */
  readonly restored: boolean;
  readonly error_count: number;
  readonly now_ms: number;
  readonly started_ms: number | null;
  /** Time at which the send was accepted; null if it never was. */
  readonly submitted_ms: number | null;
  /** Null: no send can be under way: none was made, or the last is proven not to have landed. */
  readonly send_not_after_ms: number | null;
  readonly node: Pick<CompiledNode, 'timeout_policy'>;
}

/**
 * Returns the seconds from the send fence to `send_not_after`. A team's worker also gets time to
 * take the call.
 */
export function nodeWindow({
  timeout_seconds,
  kind,
}: Pick<ExecutorDescriptor, 'timeout_seconds' | 'kind'>): number {
  return windowSeconds({ timeout_seconds, take_seconds: kind === 'task_queue' ? TAKE_SECONDS : 0 });
}

/** Returns whether the send was accepted and its end was not seen yet. */
export function isAccepted(state: NodeState): boolean {
  return state === 'SUBMITTED' || state === 'OBSERVING';
}

/**
 * Returns whether `observe_seconds` have passed since the send; for nodes that send nothing, since
 * the start.
 */
export function isLate(
  row: Pick<NodeSend, 'node' | 'submitted_ms' | 'started_ms' | 'now_ms'>,
): boolean {
  const limit = row.node.timeout_policy?.observe_seconds;
  const since = row.submitted_ms ?? row.started_ms;
  return limit !== undefined && since !== null && row.now_ms - since >= limit * 1000;
}

/**
 * Returns what to do when a query finds no trace of a node's send. At most `most_sends` sends are
 * made.
 */
export function afterNodeNotFound(
  row: NodeSend,
  executor: Pick<ExecutorDescriptor, 'same_key_safe' | 'settle_seconds'>,
  most_sends: number,
): AfterNotFound {
  return afterNotFound({
    send_left_ms: row.send_not_after_ms === null ? null : row.send_not_after_ms - row.now_ms,
    settle_seconds: executor.settle_seconds,
    same_key_safe: executor.same_key_safe,
    with_person: row.state === 'UNKNOWN',
    never_sent: row.state === 'READY' && row.restored,
    accepted: row.submitted_ms !== null || isAccepted(row.state),
    // An operator's retry makes an UNKNOWN node READY; the node's earlier send is looked up first.
    may_resend: row.state === 'READY' && row.recover_first,
    sends: row.error_count + 1,
    most_sends,
    is_late: isLate(row),
    // It is proven that nothing landed, so the plan's time-out edges decide what follows.
    when_late: 'fail',
  });
}

/** Returns a node's fields after a send that is proven not to have landed. */
export function unlanded(
  row: NodeSend,
  { counts }: { readonly counts: boolean },
): NodeFields & { readonly error_count: number } {
  return {
    recover_first: false,
    send_not_after: null,
    error_count: row.error_count + (counts ? 1 : 0),
  };
}
