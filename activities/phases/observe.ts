/** observe: has it arrived? A "not yet" is a retryable failure with the executor's own delay, which costs no history. */
import type { ExecutionResult } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import type { NodeState } from '../../domain/states/node.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { lookAgain } from '../failures.ts';
import { amountOf, contextOf, journalOf, phaseRow, result, settled, type PhaseDependencies } from './context.ts';
import { completeNode, countFault, failNode, mustWrite, reported } from './outcome.ts';
import { question, type PhaseSteps } from './phase.ts';

const DEFAULT_POLL_SECONDS = 2;

export const observe: PhaseSteps = {
  name: 'observe',
  async begin(deps, args, left) {
    const row = left ?? (await phaseRow(deps, args));
    if (row.attempt !== args.attempt) return result(row.state, 'stop');
    if (!begins(row) && row.state !== 'OBSERVING') return elsewhere(row);
    if (isLate(row)) {
      if (!isPure(row)) return result(row.state, 'recover');
      return failNode(deps, row, 'NODE_TIMED_OUT', 'not observed within observe_seconds', toEnd(row, 'FAILED'));
    }
    return question(
      async () => ({ row, context: await contextOf(deps, row, amountOf(row) ?? '0') }),
      (fault) => observe.finish(deps, args, row, { fault }),
    );
  },
  call: (deps, executor, { row, context }, options) => executor.observe(context, options, journalOf(deps, row)),
  async finish(deps, _args, row, given) {
    if ('fault' in given) {
      const { fault } = given;
      return countFault(deps, row, fault, async () =>
        isPure(row) ? failNode(deps, row, fault.code, fault.message, toEnd(row, 'FAILED')) : result(row.state, 'recover'),
      );
    }
    const answer = given.answer ?? { next_state: 'OBSERVING' };
    if (answer.next_state === 'COMPLETED') return completeNode(deps, row, answer, toEnd(row, 'COMPLETED'));
    if (answer.next_state === 'FAILED') {
      const message = answer.error_message ?? 'the venue ended it';
      return failNode(deps, row, answer.error_code ?? 'VENUE_FAILED', message, toEnd(row, 'FAILED'));
    }
    await (begins(row) ? enterObserving(deps, row, answer) : keepProgress(deps, row, answer));
    // Only the fact: what the executor says may name accounts and hashes, which stay out of the history.
    throw lookAgain(`${row.node_key} is not there yet`, answer.retry_after_seconds ?? DEFAULT_POLL_SECONDS);
  },
};

/** The node sends nothing: it is there to look. */
function isPure(row: PhaseRow): boolean {
  return row.node.node_kind === 'observe';
}

function begins(row: PhaseRow): boolean {
  return row.state === 'SUBMITTED' || (row.state === 'READY' && isPure(row));
}

function elsewhere(row: PhaseRow): PhaseResult {
  if (row.state === 'SUBMITTING') return result(row.state, 'recover');
  return row.state === 'READY' || row.state === 'BLOCKED' ? result(row.state, 'stop') : settled(row);
}

/** To an end, through OBSERVING, as the table of moves asks for. */
function toEnd(row: PhaseRow, end: NodeState): readonly NodeState[] {
  return begins(row) ? ['OBSERVING', end] : [end];
}

/** Whether `observe_seconds` have passed since the send (since the start for nodes that send nothing). */
export function isLate(row: PhaseRow): boolean {
  const limit = row.node.timeout_policy?.observe_seconds;
  const since = row.submitted_ms ?? row.started_ms;
  return limit !== undefined && since !== null && row.now_ms - since >= limit * 1000;
}

/** The first "not yet" shows as OBSERVING; an end that the first look finds needs no write in between. */
function enterObserving(deps: PhaseDependencies, row: PhaseRow, answer: ExecutionResult): Promise<void> {
  return mustWrite(deps, row, {
    moves: ['OBSERVING'],
    set: { ...reported(answer), error_count: 0, ...(row.submitted_ms === null ? { submitted_at: NOW } : {}) },
    event: 'node_observing',
    message: 'Observing',
  });
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
