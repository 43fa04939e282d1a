/**
 * submit: the only phase with a side effect. It passes the fence, signs, sends and records the
 * answer; without a well-formed answer the result is "recover", never another send.
 */
import { typesWithoutPayees } from '../../domain/allowlist/declared.ts';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { heldTo } from '../../domain/plan/assurance.ts';
import { storable } from '../../domain/text.ts';
import { anyApart, behindSeconds, type Differences } from '../../domain/send/clocks.ts';
import { nodeWindow } from '../../domain/send/node.ts';
import { deadlineOf, tooLate } from '../../domain/send/window.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { mayBeWritten } from '../../store/faults.ts';
import { findFence, tryFence } from '../../store/transition.ts';
import { momentNow } from '../../platform/deadline.ts';
import { newId } from '../../platform/ids.ts';
import { maxAttempts } from '../failures.ts';
import { withDeadline } from '../call.ts';
import { whileAway } from '../kept.ts';
import { failIfLate } from './before-send.ts';
import { descriptorOf } from './bound-executor.ts';
import { assuranceOf, contextOf, type PhaseDependencies } from './context.ts';
import { journalOf } from './journal.ts';
import { withOwnClaim } from './claims.ts';
import { phaseRow, withCourse } from './row.ts';
import { alreadyBeyond, result, sendAgain } from './results.ts';
import { passFence, type Fenced } from './fence.ts';
import { notFenced } from './fence-refused.ts';
import { isFollowed, withoutFacts } from './followed.ts';
import { completeNode, failNode, reported, stopBeforeSend } from './settle.ts';
import { writeNode } from './write.ts';
import type { PhaseSteps, Question } from './phase.ts';
import { signFenced } from './sign.ts';

export const submit: PhaseSteps = {
  name: 'submit',
  // While the node is SUBMITTING, no answer is recorded yet.
  recorded(row, args) {
    if (row.attempt === args.attempt && row.state === 'SUBMITTING') return null;
    return (
      alreadyBeyond(row, args) ?? (row.recover_first ? result('READY', 'recover') : sendAgain(row))
    );
  },
  async begin(deps, args) {
    const fenced = await fence(deps, args);
    return 'next' in fenced ? fenced : signed(deps, fenced);
  },
  call: (deps, executor, { row, context, prepared_action, sign_result, deadline }, options) => {
    if (deadline === undefined) throw tooLate();
    const input = {
      context,
      prepared_action: prepared_action ?? {},
      ...(sign_result === undefined ? {} : { sign_result }),
      journal: journalOf(deps, row),
    };
    const answer = withDeadline(options, deadline, (limited) => executor.submit(input, limited));
    return answer.catch((error: unknown) => {
      // Any other error during a send does not show whether the send landed.
      if (error instanceof ExecutorFault) throw error;
      throw new ExecutorFault('protocol', 'SUBMIT_BROKE', 'the executor failed during a submit', {
        cause: error,
      });
    });
  },
  finish: (deps, _args, row, outcome) =>
    withOwnClaim(outcome, async (checked) => {
      // Only this process has the answer. If the answer is lost and the executor cannot look up its
      // send, a person has to decide.
      if ('answer' in checked && checked.answer !== null) {
        const { answer } = checked;
        return whileAway(() => recordAnswer(deps, row, answer));
      }
      const fault = 'fault' in checked ? checked.fault : undefined;
      deps.log.warn(
        { err: fault, movement_id: row.movement_id, node_key: row.node_key },
        'a submit returned no usable answer; recovery looks for the send',
      );
      return result('SUBMITTING', 'recover');
    }),
};

/**
 * Passes the fence in the same SQL statement that reads the node, if that is possible, else in
 * {@link longFence}.
 */
async function fence(deps: PhaseDependencies, args: PhaseArgs): Promise<Fenced | PhaseResult> {
  const descriptor =
    args.executor_key === undefined ? undefined : deps.executors.describe(args.executor_key);
  const differences: Differences = deps.clocks?.differences ?? new Map();
  // Payee fields that a registry entry declares, and clocks that disagree, are left to longFence.
  if (descriptor === undefined || (descriptor.payees ?? []).length > 0 || anyApart(differences))
    return longFence(deps, args, await phaseRow(deps, args));
  const window = nodeWindow(descriptor);
  const deadline = deadlineOf(momentNow(), window);
  const { executor_key } = descriptor;
  const event_id = newId();
  const { passed, row } = await tryFence(deps.db, {
    ...args,
    executor_key,
    event_id,
    window_seconds: window + behindSeconds(differences),
    pays_nobody: typesWithoutPayees(descriptor),
  }).catch(async (error: unknown) => {
    // Nothing was sent yet, and only this process knows that; so it continues if the fence was
    // written.
    const found = mayBeWritten(error) ? await whileAway(() => findFence(deps.db, event_id)) : null;
    if (found === null) throw error;
    return { passed: true, row: found };
  });
  if (!passed || row === null)
    return longFence(
      deps,
      args,
      row === null ? await phaseRow(deps, args) : withCourse(args, { row, view: null }),
    );
  return {
    row: withCourse(args, { row, view: null }),
    context: await contextOf(deps, row, row.amount ?? '0', 'send'),
    transaction: null,
    deadline,
  };
}

async function longFence(
  deps: PhaseDependencies,
  args: PhaseArgs,
  row: PhaseRow,
): Promise<Fenced | PhaseResult> {
  const beyond = alreadyBeyond(row, args);
  if (beyond !== null) return beyond;
  if (row.recover_first) return result('READY', 'recover');
  // The prepared action that is checked here is the one that is sent: it is stored once and never
  // overwritten.
  if (row.prepared_action === null) return sendAgain(row);
  // The node was bound to another signer after prepare.
  if (!row.preflight_passed) return sendAgain({ ...row, prepared_action: null });
  const late = await failIfLate(deps, row);
  if (late !== null) return late;
  const passed = await passFence(deps, row);
  return 'unfenced' in passed ? notFenced(deps, row, passed.unfenced) : passed;
}

/**
 * Signs after the fence and returns submit's input. From here every failure means "recover", since
 * something may have been sent.
 */
export async function signed(
  deps: PhaseDependencies,
  fenced: Fenced,
): Promise<Question | PhaseResult> {
  const { row, context, deadline } = fenced;
  try {
    const sign_result = await signFenced(deps, fenced);
    if (sign_result === 'overtaken') return result('SUBMITTING', 'recover');
    return {
      row,
      context,
      prepared_action: row.prepared_action,
      deadline,
      ...(sign_result === null ? {} : { sign_result }),
    };
  } catch (error) {
    deps.log.warn(
      { err: error, movement_id: row.movement_id, node_key: row.node_key },
      'signing failed after the send fence; recovery follows',
    );
    return result('SUBMITTING', 'recover');
  }
}

/** Writes the answer under the fence's epoch. After a takeover, the recovery decides. */
async function recordAnswer(
  deps: PhaseDependencies,
  row: PhaseRow,
  answered: ExecutionResult,
): Promise<PhaseResult> {
  const answer = heldTo(assuranceOf(row), answered);
  if (isFollowed(deps, row)) return handedOver(deps, row, answer);
  if (answer.next_state === 'COMPLETED') return completeNode(deps, row, answer, ['COMPLETED']);
  if (answer.next_state === 'FAILED') {
    return failNode(
      deps,
      row,
      answer.error_code ?? 'SUBMIT_FAILED',
      answer.error_message ?? 'the executor refused',
      ['FAILED'],
      answer,
    );
  }
  return accepted(deps, row, answer);
}

/**
 * Records the answer of an executor that has received a signed payment. Only the chain proves
 * whether it was paid. A refusal does not take the signed bytes back, so a refused transaction is
 * cancelled on the chain.
 */
async function handedOver(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<PhaseResult> {
  if (answer.next_state !== 'FAILED') return accepted(deps, row, withoutFacts(answer));
  const { error_code = 'SUBMIT_FAILED', error_message = 'the executor refused' } = answer;
  const data = { error_code, error_message: storable(error_message, 500) };
  if (row.sign_request?.kind === 'evm_typed_data') {
    const outcome = await writeNode(deps, row, {
      moves: ['SUBMITTED'],
      set: { submitted_at: NOW, error_count: 0 },
      event: 'node_submitted',
      message: 'The executor refused the signature made for it, which can be used until it expires',
      data,
    });
    return outcome.ok ? result('SUBMITTED', 'continue') : result('SUBMITTING', 'recover');
  }
  await writeNode(deps, row, {
    moves: [],
    set: { cancel_asked: row.attempt },
    event: 'transaction_cancel_requested',
    message: 'Its executor refused what was signed for it',
    data,
  });
  return result('SUBMITTING', 'recover');
}

async function accepted(
  deps: PhaseDependencies,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<PhaseResult> {
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

/**
 * Handles Temporal's report that no worker took the submit: the node goes back before its fence, as
 * often as its policy allows. The next try uses the same idempotency key; if the executor does not
 * allow a repeated key, recovery runs first.
 */
export async function notStarted(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseResult> {
  if (!descriptorOf(deps, row).same_key_safe) return result('SUBMITTING', 'recover');
  const { retry_policy } = row.node;
  const count = row.error_count + 1;
  if (count >= maxAttempts(retry_policy)) {
    return stopBeforeSend(
      deps,
      row,
      'EXECUTOR_NOT_POLLING',
      `no worker of the executor's task queue took the submit in ${String(count)} tries`,
    );
  }
  const outcome = await writeNode(deps, row, {
    moves: ['READY'],
    set: { send_not_after: null, error_count: count },
    event: 'node_recovered',
    message: "No worker of the executor's task queue took the submit; nothing was sent",
  });
  if (!outcome.ok) return result('SUBMITTING', 'recover');
  return sendAgain({ ...row, error_count: count });
}
