/**
 * submit: the only phase with a side effect. Fence, sign, send, record; on anything but a well-formed
 * answer it says "recover" and never tries again by itself.
 */
import type { ExecutionResult, Executor } from '../../domain/executor.ts';
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { callOptions } from './call.ts';
import { alreadyBeyond, journalOf, phaseRow, result, type PhaseDependencies } from './context.ts';
import { passFence, type Fenced } from './fence.ts';
import { completeNode, failNode, reported, writeNode } from './outcome.ts';
import { failIfLate } from './preflight.ts';
import { signFenced } from './sign.ts';

export async function submit(deps: PhaseDependencies, args: PhaseArgs): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  const beyond = alreadyBeyond(row, args);
  if (beyond !== null) return beyond;
  if (row.recover_first) return result('READY', 'recover');
  const late = await failIfLate(deps, row);
  if (late !== null) return late;
  const fenced = await passFence(deps, row);
  return 'executor' in fenced ? sendFenced(deps, fenced) : fenced;
}

async function sendFenced(deps: PhaseDependencies, fenced: Fenced): Promise<PhaseResult> {
  const { row } = fenced;
  let answer: ExecutionResult;
  try {
    const signed = await signFenced(deps, fenced);
    if (signed === 'overtaken') return result('SUBMITTING', 'recover');
    answer = await send(deps, fenced.executor, fenced, signed);
  } catch (error) {
    deps.log.warn(
      { err: error, movement_id: row.movement_id, node_key: row.node_key },
      'a submit gave no usable answer; recovery asks what became of it',
    );
    return result('SUBMITTING', 'recover');
  }
  return record(deps, row, answer);
}

function send(
  deps: PhaseDependencies,
  executor: Executor,
  fenced: Fenced,
  signed: Readonly<Record<string, string>> | null,
): Promise<ExecutionResult> {
  const { row, context, deadline } = fenced;
  const left = deadline - performance.now();
  if (left <= 0) throw new Error('the time to send has passed');
  const call = callOptions();
  return executor.submit(
    {
      context,
      prepared_action: row.prepared_action ?? {},
      ...(signed === null ? {} : { sign_result: signed }),
      journal: journalOf(deps, row),
    },
    { ...call, signal: AbortSignal.any([call.signal, AbortSignal.timeout(Math.ceil(left))]) },
  );
}

/** Writes the answer under the fence's epoch; a recovery that took over meanwhile decides instead. */
async function record(deps: PhaseDependencies, row: PhaseRow, answer: ExecutionResult): Promise<PhaseResult> {
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
