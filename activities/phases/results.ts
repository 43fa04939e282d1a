/** What a phase says, from what its node's row records: where the run of the node goes on. */
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import type { NodeState } from '../../domain/states/node.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { backoffSeconds } from '../failures.ts';

export function result(
  state: NodeState,
  next: PhaseResult['next'],
  error_code: string | null = null,
): PhaseResult {
  return { state, next, error_code };
}

/**
 * READY after a send that did not land: sent once more, after a pause that grows with the sends
 * before it. What was never prepared (a restored database may only have thought that it was sent)
 * goes through the phases before.
 */
export function sendAgain(row: PhaseRow): PhaseResult {
  if (row.prepared_action === null)
    return { ...result('READY', 'again'), phase: 'preflight', delay_ms: 0 };
  return {
    ...result('READY', 'submit'),
    delay_ms: Math.round(backoffSeconds(row.node.retry_policy, row.error_count) * 1000),
  };
}

/**
 * What is prepared is sent, once the pause is over that a send before it asks for, whichever run
 * began to wait.
 */
export function sendPrepared(row: PhaseRow): PhaseResult {
  const pause =
    row.error_count === 0 ? 0 : backoffSeconds(row.node.retry_policy, row.error_count) * 1000;
  const left = Math.ceil(pause - (row.now_ms - row.updated_ms));
  return left > 0 ? { ...result('READY', 'submit'), delay_ms: left } : result('READY', 'continue');
}

/**
 * What a settled node says of itself: also what its conditions came to, for a run that missed that.
 */
export function settled(row: PhaseRow): PhaseResult {
  const stopped =
    row.state === 'FAILED' && row.error_code === 'TRANSACTION_CANCELLED' && !row.cancel_asked;
  const told = {
    ...result(row.state, 'settled', row.error_code),
    ...(stopped ? { ended_by_stop: true } : {}),
  };
  return row.conditions === null ? told : { ...told, conditions: row.conditions };
}

/**
 * What a phase says when the node is no longer where the phase would begin: it has been done before
 * (by an earlier run, before a reset, or by an operator), and nobody is called again.
 */
export function alreadyBeyond(row: PhaseRow, args: PhaseArgs): PhaseResult | null {
  if (row.attempt !== args.attempt) return result(row.state, 'stop');
  return row.state === 'READY' ? null : elsewhere(row, result('READY', 'stop'));
}

/**
 * Where a node goes on that a phase finds in another state than its own; `ready` is what it says of
 * a READY one.
 */
export function elsewhere(row: PhaseRow, ready: PhaseResult): PhaseResult {
  switch (row.state) {
    case 'READY':
      return ready;
    case 'SUBMITTING':
      return result(row.state, 'recover');
    case 'SUBMITTED':
    case 'OBSERVING':
      return result(row.state, 'observe');
    case 'COMPLETED':
    case 'FAILED':
    case 'UNKNOWN':
    case 'SKIPPED':
    case 'CANCELLED':
      return settled(row);
    case 'BLOCKED':
      return result(row.state, 'stop');
  }
}
