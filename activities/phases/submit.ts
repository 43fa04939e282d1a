/**
 * submit: the only phase with a side effect. Fence, sign, send, record; on anything but a well-formed
 * answer it says "recover" and never tries again by itself.
 */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { tryFence } from '../../store/transition.ts';
import { backoffSeconds, maxAttempts } from '../failures.ts';
import { alreadyBeyond, contextOf, journalOf, phaseRow, result, type PhaseDependencies } from './context.ts';
import { passFence, sendWindow, type Fenced } from './fence.ts';
import { completeNode, failNode, reported, writeNode } from './outcome.ts';
import type { PhaseSteps, Question } from './phase.ts';
import { failIfLate } from './preflight.ts';
import { signFenced } from './sign.ts';

export const submit: PhaseSteps = {
  name: 'submit',
  async begin(deps, args) {
    const fenced = await fence(deps, args);
    return 'next' in fenced ? fenced : signed(deps, fenced);
  },
  call: (deps, executor, { row, context, prepared_action, sign_result, deadline }, options) => {
    const left = (deadline ?? 0) - performance.now();
    if (left <= 0) throw new ExecutorFault('timeout', 'SEND_TOO_LATE', 'the time to send has passed');
    return executor
      .submit(
        {
          context,
          prepared_action: prepared_action ?? {},
          ...(sign_result === undefined ? {} : { sign_result }),
          journal: journalOf(deps, row),
        },
        { ...options, signal: AbortSignal.any([options.signal, AbortSignal.timeout(Math.ceil(left))]) },
      )
      .catch((error: unknown) => {
        // Whatever else goes wrong during a send says nothing about whether it landed.
        if (error instanceof ExecutorFault) throw error;
        throw new ExecutorFault('protocol', 'SUBMIT_BROKE', 'the executor broke during a submit', { cause: error });
      });
  },
  async finish(deps, _args, row, given) {
    if ('answer' in given && given.answer !== null) return recordAnswer(deps, row, given.answer);
    const fault = 'fault' in given ? given.fault : undefined;
    deps.log.warn(
      { err: fault, movement_id: row.movement_id, node_key: row.node_key },
      'a submit gave no usable answer; recovery asks what became of it',
    );
    return result('SUBMITTING', 'recover');
  },
};

/** The fence in the statement that reads the node where that can be; otherwise the long way, which says why. */
async function fence(deps: PhaseDependencies, args: PhaseArgs): Promise<Fenced | PhaseResult> {
  const descriptor = args.executor_key === undefined ? undefined : deps.executors.describe(args.executor_key);
  if (descriptor === undefined) return longFence(deps, args, await phaseRow(deps, args));
  const window = sendWindow(descriptor);
  // Taken before the write, so this process's deadline is never later than the database's.
  const deadline = performance.now() + window * 1000;
  const { passed, row } = await tryFence(deps.db, { ...args, executor_key: descriptor.executor_key, window_seconds: window });
  if (!passed || row === null) return longFence(deps, args, row ?? (await phaseRow(deps, args)));
  return { row, context: await contextOf(deps, row, row.amount ?? '0'), transaction: null, deadline };
}

async function longFence(deps: PhaseDependencies, args: PhaseArgs, row: PhaseRow): Promise<Fenced | PhaseResult> {
  const beyond = alreadyBeyond(row, args);
  if (beyond !== null) return beyond;
  if (row.recover_first) return result('READY', 'recover');
  return (await failIfLate(deps, row)) ?? passFence(deps, row);
}

/** Behind the fence every failure means "recover": whether something was sent is no longer ours to guess. */
async function signed(deps: PhaseDependencies, fenced: Fenced): Promise<Question | PhaseResult> {
  const { row, context, deadline } = fenced;
  try {
    const sign_result = await signFenced(deps, fenced);
    if (sign_result === 'overtaken') return result('SUBMITTING', 'recover');
    return { row, context, prepared_action: row.prepared_action, deadline, ...(sign_result === null ? {} : { sign_result }) };
  } catch (error) {
    deps.log.warn({ err: error, movement_id: row.movement_id, node_key: row.node_key }, 'signing failed behind the fence');
    return result('SUBMITTING', 'recover');
  }
}

/** Writes the answer under the fence's epoch; a recovery that took over meanwhile decides instead. */
async function recordAnswer(deps: PhaseDependencies, row: PhaseRow, answer: ExecutionResult): Promise<PhaseResult> {
  if (answer.next_state === 'COMPLETED') return completeNode(deps, row, answer, ['COMPLETED']);
  if (answer.next_state === 'FAILED') {
    return failNode(deps, row, answer.error_code ?? 'SUBMIT_FAILED', answer.error_message ?? 'the executor refused', ['FAILED']);
  }
  const outcome = await writeNode(deps, row, {
    moves: ['SUBMITTED'],
    set: { ...reported(answer), submitted_at: NOW, error_count: 0 },
    artifacts: answer.artifacts ?? [],
    event: 'node_submitted',
    message: 'Submitted',
    ...(answer.external_ref === undefined ? {} : { data: { external_ref: answer.external_ref } }),
  });
  return outcome.ok ? result('SUBMITTED', 'continue') : result('SUBMITTING', 'recover');
}

/** A call that no worker ever took: nothing was sent, so the node goes back before its fence, as often as it may be tried. */
export async function notStarted(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseResult> {
  const { retry_policy } = row.node;
  const count = row.error_count + 1;
  if (count >= maxAttempts(retry_policy)) {
    return failNode(deps, row, 'EXECUTOR_NOT_POLLING', `no worker of the executor's task queue took it in ${String(count)} tries`, [
      'FAILED',
    ]);
  }
  const outcome = await writeNode(deps, row, {
    moves: ['READY'],
    set: { send_not_after: null, error_count: count },
    event: 'node_recovered',
    message: "No worker of the executor's task queue took it; nothing was sent",
  });
  if (!outcome.ok) return result('SUBMITTING', 'recover');
  return { ...result('READY', 'submit'), delay_ms: Math.round(backoffSeconds(retry_policy, count) * 1000) };
}
