/**
 * submit: the only phase with a side effect. Fence, sign, send, record; on anything but a
 * well-formed answer it says "recover" and never tries again by itself.
 */
import { typesWithoutPayees } from '../../domain/allowlist/declared.ts';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { heldTo } from '../../domain/plan/assurance.ts';
import { storable } from '../../domain/text.ts';
import { anyApart } from '../../domain/send/clocks.ts';
import { nodeWindow } from '../../domain/send/node.ts';
import { deadlineOf, leftToSend } from '../../domain/send/window.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { mayBeWritten } from '../../store/faults.ts';
import { findFence, tryFence } from '../../store/transition.ts';
import { newId } from '../../platform/ids.ts';
import { maxAttempts } from '../failures.ts';
import { within } from '../call.ts';
import { whileAway } from '../kept.ts';
import { failIfLate } from './before-send.ts';
import { descriptorOf } from './bound-executor.ts';
import { assuranceOf, contextOf, type PhaseDependencies } from './context.ts';
import { journalOf } from './journal.ts';
import { withOwnClaim } from './claims.ts';
import { beside, phaseRow } from './row.ts';
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
  // Its answer is due for as long as the node is behind its fence.
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
    const left = leftToSend(deadline ?? 0, performance.now());
    if (left === null)
      throw new ExecutorFault('timeout', 'SEND_TOO_LATE', 'the time to send has passed');
    return executor
      .submit(
        {
          context,
          prepared_action: prepared_action ?? {},
          ...(sign_result === undefined ? {} : { sign_result }),
          journal: journalOf(deps, row),
        },
        within(options, left),
      )
      .catch((error: unknown) => {
        // Whatever else goes wrong during a send says nothing about whether it landed.
        if (error instanceof ExecutorFault) throw error;
        throw new ExecutorFault('protocol', 'SUBMIT_BROKE', 'the executor broke during a submit', {
          cause: error,
        });
      });
  },
  finish: (deps, _args, row, told) =>
    withOwnClaim(told, async (given) => {
      // Known here alone: of an executor that cannot look it up, a person would have to be asked.
      if ('answer' in given && given.answer !== null) {
        const { answer } = given;
        return whileAway(() => recordAnswer(deps, row, answer));
      }
      const fault = 'fault' in given ? given.fault : undefined;
      deps.log.warn(
        { err: fault, movement_id: row.movement_id, node_key: row.node_key },
        'a submit gave no usable answer; recovery asks what became of it',
      );
      return result('SUBMITTING', 'recover');
    }),
};

/**
 * The fence in the statement that reads the node where that can be; otherwise the long way, which
 * says why.
 */
async function fence(deps: PhaseDependencies, args: PhaseArgs): Promise<Fenced | PhaseResult> {
  const descriptor =
    args.executor_key === undefined ? undefined : deps.executors.describe(args.executor_key);
  // Fields that an entry declares are looked for in the long way alone, also where it serves a
  // built-in type; and the short fence knows no clocks.
  if (
    descriptor === undefined ||
    (descriptor.payees ?? []).length > 0 ||
    anyApart(deps.clocks?.differences ?? new Map())
  )
    return longFence(deps, args, await phaseRow(deps, args));
  const window = nodeWindow(descriptor);
  const deadline = deadlineOf(performance.now(), window);
  const { executor_key } = descriptor;
  const event_id = newId();
  const { passed, row } = await tryFence(deps.db, {
    ...{ ...args, executor_key, event_id },
    window_seconds: window,
    pays_nobody: typesWithoutPayees(descriptor),
  }).catch(async (error: unknown) => {
    // Nothing was sent, which nobody but this process knows: it goes on where the fence is there.
    const found = mayBeWritten(error) ? await whileAway(() => findFence(deps.db, event_id)) : null;
    if (found === null) throw error;
    return { passed: true, row: found };
  });
  if (!passed || row === null)
    return longFence(
      deps,
      args,
      row === null ? await phaseRow(deps, args) : { ...row, ...beside(args) },
    );
  return {
    row: { ...row, ...beside(args) },
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
  // What is looked at here is what is sent: something that is stored, and that nobody stores
  // anything over.
  if (row.prepared_action === null) return sendAgain(row);
  // It was bound to another signer between the two.
  if (!row.preflight_passed) return sendAgain({ ...row, prepared_action: null });
  const late = await failIfLate(deps, row);
  if (late !== null) return late;
  const passed = await passFence(deps, row);
  return 'unfenced' in passed ? notFenced(deps, row, passed.unfenced) : passed;
}

/**
 * Behind the fence every failure means "recover": whether something was sent is no longer ours to
 * guess.
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
      'signing failed behind the fence',
    );
    return result('SUBMITTING', 'recover');
  }
}

/**
 * Writes the answer under the fence's epoch; a recovery that took over meanwhile decides instead.
 */
async function recordAnswer(
  deps: PhaseDependencies,
  row: PhaseRow,
  given: ExecutionResult,
): Promise<PhaseResult> {
  const answer = heldTo(assuranceOf(row), given);
  if (isFollowed(deps, row)) return handedOver(deps, row, answer);
  if (answer.next_state === 'COMPLETED') return completeNode(deps, row, answer, ['COMPLETED']);
  if (answer.next_state === 'FAILED') {
    return failNode(
      deps,
      row,
      answer.error_code ?? 'SUBMIT_FAILED',
      answer.error_message ?? 'the executor refused',
      ['FAILED'],
    );
  }
  return accepted(deps, row, answer);
}

/**
 * What was signed is in the executor's hands now. That it was paid is for the chain to say, and a
 * refusal does not take the bytes back: nothing is to be mined in their place.
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
      message: 'Its executor refused what was signed for it, which can be used until it expires',
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
 * A call that no worker ever took, as Temporal says: the node goes back before its fence, as often
 * as it may be tried. The same key is submitted again then, so of an executor that does not take a
 * key twice it is asked first what became of it.
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
      `no worker of the executor's task queue took it in ${String(count)} tries`,
    );
  }
  const outcome = await writeNode(deps, row, {
    moves: ['READY'],
    set: { send_not_after: null, error_count: count },
    event: 'node_recovered',
    message: "No worker of the executor's task queue took it; nothing was sent",
  });
  if (!outcome.ok) return result('SUBMITTING', 'recover');
  return sendAgain({ ...row, error_count: count });
}
