/** A node's send, as the rules of this folder need it. */
import type { ExecutorDescriptor } from '../executor.ts';
import { TAKE_SECONDS } from '../messages.ts';
import type { CompiledNode } from '../plan/types.ts';
import type { NodeState } from '../states/node.ts';
import type { NodeFields } from '../transition.ts';
import { afterNotFound, type AfterNotFound } from './not-found.ts';
import { windowSeconds } from './window.ts';

/**
 * The fields of a node's row that describe its last send. Times are milliseconds of the database's
 * clock.
 */
export interface NodeSend {
  readonly state: NodeState;
  /** Its last send has to be looked up before anything else. */
  readonly recover_first: boolean;
  /** It came out of a restored database, which may have forgotten sends of it. */
  readonly restored: boolean;
  readonly error_count: number;
  readonly now_ms: number;
  readonly started_ms: number | null;
  /** When it was accepted; null while it never was. */
  readonly submitted_ms: number | null;
  /**
   * Null: no send can be under way, since none was made or the last is proven not to have landed.
   */
  readonly send_not_after_ms: number | null;
  readonly node: Pick<CompiledNode, 'timeout_policy'>;
}

/** Seconds from the fence to `send_not_after`: a team's worker also needs time to take the call. */
export function nodeWindow({
  timeout_seconds,
  kind,
}: Pick<ExecutorDescriptor, 'timeout_seconds' | 'kind'>): number {
  return windowSeconds({ timeout_seconds, take_seconds: kind === 'task_queue' ? TAKE_SECONDS : 0 });
}

/** Accepted, and not seen to its end yet. */
export function isAccepted(state: NodeState): boolean {
  return state === 'SUBMITTED' || state === 'OBSERVING';
}

/**
 * Whether `observe_seconds` have passed since the send (since the start for nodes that send
 * nothing).
 */
export function isLate(
  row: Pick<NodeSend, 'node' | 'submitted_ms' | 'started_ms' | 'now_ms'>,
): boolean {
  const limit = row.node.timeout_policy?.observe_seconds;
  const since = row.submitted_ms ?? row.started_ms;
  return limit !== undefined && since !== null && row.now_ms - since >= limit * 1000;
}

/** What follows when nothing is found of a node's send; at most `most_sends` sends. */
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
    // An operator's retry makes an UNKNOWN node READY; its send is looked up first.
    may_resend: row.state === 'READY' && row.recover_first,
    sends: row.error_count + 1,
    most_sends,
    is_late: isLate(row),
    // It is proven that nothing landed, and the plan says what follows a time-out.
    when_late: 'fail',
  });
}

/** The fields of a node after a send that is proven not to have landed. */
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
