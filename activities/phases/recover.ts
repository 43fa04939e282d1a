/**
 * recover: what became of a send that gave no answer. First the epoch is bumped, so that a worker that
 * still lives can write nothing more; "nothing landed" is believed only once nothing can be under way.
 */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import type { NodeState } from '../../domain/states/node.ts';
import { storable } from '../../domain/text.ts';
import { NOW } from '../../domain/transition.ts';
import { takeOver, type PhaseRow } from '../../store/phases.ts';
import { backoffSeconds, lookAgain, maxAttempts } from '../failures.ts';
import { amountOf, contextOf, descriptorOf, journalOf, result, settled, type PhaseDependencies } from './context.ts';
import { isLate } from './observe.ts';
import { completeNode, countFault, failNode, mustWrite, reported } from './outcome.ts';
import { question, type PhaseSteps } from './phase.ts';

export const recover: PhaseSteps = {
  name: 'recover',
  async begin(deps, args) {
    const { taken, row } = await takeOver(deps.db, args);
    if (row === null) throw new Error(`movement ${args.movement_id} has no node ${args.node_key}`);
    if (row.attempt !== args.attempt) return result(row.state, 'stop');
    if (!taken) return elsewhere(row);
    return question(
      async () => ({ row, context: await contextOf(deps, row, amountOf(row) ?? '0') }),
      (fault) => recover.finish(deps, args, row, { fault }),
    );
  },
  call: (deps, executor, { row, context }, options) => executor.recover(context, options, journalOf(deps, row)),
  async finish(deps, args, row, given) {
    if ('fault' in given) {
      const { fault } = given;
      return countFault(deps, row, fault, () => unknown(deps, row, fault.message));
    }
    const answer = given.answer ?? { next_state: 'UNKNOWN' };
    switch (answer.next_state) {
      case 'COMPLETED':
        return completeNode(deps, row, answer, path(row, 'COMPLETED'), 'node_recovered');
      case 'FAILED':
        return failNode(deps, row, failureCode(row, answer), answer.error_message ?? 'the venue ended it', path(row, 'FAILED'));
      case 'READY':
        return notLanded(deps, row);
      case 'UNKNOWN':
        return inconclusive(deps, row, answer.error_message ?? 'the executor cannot tell');
      case 'SUBMITTING':
      case 'SUBMITTED':
      case 'OBSERVING':
        return args.from_observe === true
          ? unknown(deps, row, 'under way, but not observed to its end in time')
          : landed(deps, row, answer);
    }
  },
};

function failureCode(row: PhaseRow, answer: ExecutionResult): string {
  return isLate(row) ? 'NODE_TIMED_OUT' : (answer.error_code ?? 'VENUE_FAILED');
}

function sent(state: NodeState): boolean {
  return state === 'SUBMITTED' || state === 'OBSERVING';
}

function elsewhere(row: PhaseRow): PhaseResult {
  if (sent(row.state)) return result(row.state, 'observe');
  if (row.state === 'READY') return result(row.state, 'submit');
  return row.state === 'BLOCKED' ? result(row.state, 'stop') : settled(row);
}

/** The moves to an end through the states that the table asks for. */
function path(row: PhaseRow, end: NodeState): readonly NodeState[] {
  return row.state === 'SUBMITTED' ? ['OBSERVING', end] : [end];
}

async function landed(deps: PhaseDependencies, row: PhaseRow, answer: ExecutionResult): Promise<PhaseResult> {
  if (sent(row.state)) return result(row.state, 'observe');
  const to = row.state === 'READY' ? 'OBSERVING' : 'SUBMITTED';
  await mustWrite(deps, row, {
    moves: [to],
    set: {
      ...reported(answer),
      recover_first: false,
      error_count: 0,
      error_code: null,
      error_message: null,
      ...(row.submitted_ms === null ? { submitted_at: NOW } : {}),
    },
    artifacts: answer.artifacts ?? [],
    event: 'node_recovered',
    message: 'Recovered: the earlier send landed',
    ...(answer.external_ref === undefined ? {} : { data: { external_ref: answer.external_ref } }),
  });
  return result(to, 'observe');
}

/** "Nothing landed" is true only after the send's own limit and the venue's settle time. */
async function notLanded(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseResult> {
  const { same_key_safe, settle_seconds } = descriptorOf(deps, row);
  const believable = (row.send_not_after_ms ?? 0) + settle_seconds * 1000;
  if (row.now_ms < believable)
    throw lookAgain('nothing found yet, and the last send may still be under way', (believable - row.now_ms) / 1000);
  if (!same_key_safe)
    return unknown(deps, row, 'nothing was found, but this executor does not promise that a repeated key has no second effect');
  if (isLate(row)) return failNode(deps, row, 'NODE_TIMED_OUT', 'nothing landed within observe_seconds', path(row, 'FAILED'));
  if (sent(row.state)) return unknown(deps, row, 'what was accepted earlier cannot be found any more');
  const count = row.error_count + 1;
  if (count >= maxAttempts(row.node.retry_policy))
    return failNode(deps, row, 'SUBMIT_NOT_LANDED', `nothing landed in ${count} sends`, path(row, 'FAILED'));
  await mustWrite(deps, row, {
    moves: row.state === 'SUBMITTING' ? ['READY'] : [],
    set: { recover_first: false, error_count: count, send_not_after: null },
    event: 'node_recovered',
    message: 'Recovered: nothing landed, sent again under the same key',
  });
  return { ...result('READY', 'submit'), delay_ms: Math.round(backoffSeconds(row.node.retry_policy, count) * 1000) };
}

function inconclusive(deps: PhaseDependencies, row: PhaseRow, why: string): Promise<PhaseResult> {
  return countFault(deps, row, new ExecutorFault('server_error', 'RECOVERY_INCONCLUSIVE', why), () => unknown(deps, row, why));
}

/** A person decides: nothing is sent again by itself. */
async function unknown(deps: PhaseDependencies, row: PhaseRow, why: string): Promise<PhaseResult> {
  await mustWrite(deps, row, {
    moves: path(row, 'UNKNOWN'),
    set: { error_code: 'RECOVERY_INCONCLUSIVE', error_message: storable(why, 1_000), recover_first: false },
    event: 'node_unknown',
    message: storable(`Unknown: ${why}`, 500),
    data: { error_code: 'RECOVERY_INCONCLUSIVE' },
  });
  return result('UNKNOWN', 'settled', 'RECOVERY_INCONCLUSIVE');
}
