/** observe: has it arrived? A "not yet" is a retryable failure with the executor's own delay, which costs no history. */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import type { NodeState } from '../../domain/states/node.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { lookAgain } from '../failures.ts';
import { callOptions } from './call.ts';
import { amountOf, contextOf, executorOf, journalOf, phaseRow, result, type PhaseDependencies } from './context.ts';
import { completeNode, countFault, failNode, mustWrite, reported } from './outcome.ts';

const DEFAULT_POLL_SECONDS = 2;

export async function observe(deps: PhaseDependencies, args: PhaseArgs): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  const pureObserve = row.node.node_kind === 'observe';
  const begins = row.state === 'SUBMITTED' || (row.state === 'READY' && pureObserve);
  if (row.attempt !== args.attempt) return result(row.state, 'stop');
  if (!begins && row.state !== 'OBSERVING') return elsewhere(row);
  if (isLate(row)) {
    if (!pureObserve) return result(row.state, 'recover');
    return failNode(deps, row, 'NODE_TIMED_OUT', 'not observed within observe_seconds', toEnd(row, 'FAILED'));
  }
  const seen = begins ? await enterObserving(deps, row) : row;
  let answer: ExecutionResult;
  try {
    answer = await executorOf(deps, seen).observe(await contextOf(deps, seen, amountOf(seen) ?? '0'), callOptions(), journalOf(deps, seen));
  } catch (error) {
    if (!(error instanceof ExecutorFault)) throw error;
    return countFault(deps, seen, error, async () =>
      pureObserve ? failNode(deps, seen, error.code, error.message, ['FAILED']) : result(seen.state, 'recover'),
    );
  }
  if (answer.next_state === 'COMPLETED') return completeNode(deps, seen, answer, ['COMPLETED']);
  if (answer.next_state === 'FAILED') {
    return failNode(deps, seen, answer.error_code ?? 'VENUE_FAILED', answer.error_message ?? 'the venue ended it', ['FAILED']);
  }
  await keepProgress(deps, seen, answer);
  // Only the fact: what the executor says may name accounts and hashes, which stay out of the history.
  throw lookAgain(`${seen.node_key} is not there yet`, answer.retry_after_seconds ?? DEFAULT_POLL_SECONDS);
}

function elsewhere(row: PhaseRow): PhaseResult {
  if (row.state === 'SUBMITTING') return result(row.state, 'recover');
  return row.state === 'READY' || row.state === 'BLOCKED' ? result(row.state, 'stop') : result(row.state, 'settled', row.error_code);
}

function toEnd(row: PhaseRow, end: NodeState): readonly NodeState[] {
  return row.state === 'SUBMITTED' ? ['OBSERVING', end] : [end];
}

/** Whether `observe_seconds` have passed since the send (since the start for nodes that send nothing). */
export function isLate(row: PhaseRow): boolean {
  const limit = row.node.timeout_policy?.observe_seconds;
  const since = row.submitted_ms ?? row.started_ms;
  return limit !== undefined && since !== null && row.now_ms - since >= limit * 1000;
}

async function enterObserving(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseRow> {
  await mustWrite(deps, row, {
    moves: ['OBSERVING'],
    set: { error_count: 0, ...(row.submitted_ms === null ? { submitted_at: NOW } : {}) },
    event: 'node_observing',
    message: 'Observing',
  });
  return { ...row, state: 'OBSERVING', error_count: 0 };
}

/** An executor's interim findings (a reference, a baseline) are what it gets back next time. */
async function keepProgress(deps: PhaseDependencies, row: PhaseRow, answer: ExecutionResult): Promise<void> {
  const news =
    (answer.external_ref !== undefined && answer.external_ref !== row.external_ref) ||
    (answer.output !== undefined && JSON.stringify(answer.output) !== JSON.stringify(row.output)) ||
    row.error_count > 0;
  if (!news) return;
  await applyTransition(deps.db, {
    movement_id: row.movement_id,
    nodes: [
      {
        node_key: row.node_key,
        from: row.state,
        moves: [],
        attempt: row.attempt,
        epoch: row.epoch,
        set: { ...reported(answer), error_count: 0 },
      },
    ],
    timeline: [],
  });
}
