/** Derives a phase's result from its node's row: how the run of the node continues. */
import { ABANDONED } from '../../domain/attention-reasons.ts';
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
 * Returns the result for a READY node after a send that did not land: send again after a pause that
 * grows with each send. A node that was never prepared (checked only because of a restore) starts
 * with preflight.
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
 * Returns the result for a prepared node: it is sent once the pause after its earlier send is over,
 * even if another run made that send.
 */
export function sendPrepared(row: PhaseRow): PhaseResult {
  const pause =
    row.error_count === 0 ? 0 : backoffSeconds(row.node.retry_policy, row.error_count) * 1000;
  const left = Math.ceil(pause - (row.now_ms - row.updated_ms));
  return left > 0 ? { ...result('READY', 'submit'), delay_ms: left } : result('READY', 'continue');
}

/**
 * Returns the result of a settled node, with the results of its conditions for a run that missed
 * them.
 */
export function settled(row: PhaseRow): PhaseResult {
  const stopped =
    row.state === 'FAILED' &&
    (row.error_code === ABANDONED ||
      (row.error_code === 'TRANSACTION_CANCELLED' && !row.cancel_asked));
  const ended = {
    ...result(row.state, 'settled', row.error_code),
    ...(stopped ? { ended_by_stop: true } : {}),
  };
  return row.conditions === null ? ended : { ...ended, conditions: row.conditions };
}

/**
 * Returns the result when the node is already past the start of the phase (an earlier run, a run
 * before a reset, or an operator moved it), so that no executor is called again; null when the
 * phase may start.
 */
export function alreadyBeyond(row: PhaseRow, args: PhaseArgs): PhaseResult | null {
  if (row.attempt !== args.attempt) return result(row.state, 'stop');
  return row.state === 'READY' ? null : resultFor(row, result('READY', 'stop'));
}

/**
 * Returns the result for a node that is not in the state that the phase expects; `ready` when the
 * node is READY.
 */
export function resultFor(row: PhaseRow, ready: PhaseResult): PhaseResult {
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
