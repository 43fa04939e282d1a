/**
 * A phase in two halves around the executor's call: `begin` builds the call's input, `finish`
 * stores the answer. So the executor may be a module, an HTTP service or a team's own worker.
 */
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
} from '../../domain/executor.ts';
import type { Phase, PhaseResult, RecoverArgs } from '../../domain/messages.ts';
import type { Moment } from '../../domain/send/window.ts';
import { databaseFault } from '../../store/faults.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { measured } from '../phase-metrics.ts';
import { callOptions } from '../call.ts';
import { isAway } from '../kept.ts';
import { repeatable, sending } from '../leaving.ts';
import { executorOf } from './bound-executor.ts';
import { ownerOf, type PhaseDependencies } from './context.ts';

/**
 * Input of an executor's call. The row is as `begin` wrote it; `finish` writes under the row's
 * attempt and epoch.
 */
export interface Question {
  readonly row: PhaseRow;
  readonly context: ExecutionContext;
  readonly prepared_action?: PhaseRow['prepared_action'];
  readonly sign_result?: Readonly<Record<string, string>>;
  /** Last moment to send, by this host's clocks; only for submit. */
  readonly deadline?: Moment;
}

/** The executor's answer or its fault; a null answer is a passed preflight. */
export type CallOutcome =
  { readonly answer: ExecutionResult | null } | { readonly fault: ExecutorFault };

export interface PhaseSteps {
  readonly name: Phase;
  /** Whether the call ends at the executor's time-out even if the executor ignores its signal. */
  readonly endsInTime?: boolean;
  /** Returns the result that the row already records for this phase; null when it records none. */
  recorded(row: PhaseRow, args: RecoverArgs): PhaseResult | null;
  /**
   * Reads the node (unless the phase before passes its row as `left`). Returns the input of the
   * call, or the result if that is already known. Throws no {@link ExecutorFault}.
   */
  begin(
    deps: PhaseDependencies,
    args: RecoverArgs,
    left?: PhaseRow,
  ): Promise<Question | PhaseResult>;
  /** Makes one call. Throws {@link ExecutorFault} when the executor returns no usable answer. */
  call(
    deps: PhaseDependencies,
    executor: Executor,
    question: Question,
    options: CallOptions,
  ): Promise<ExecutionResult | null>;
  finish(
    deps: PhaseDependencies,
    args: RecoverArgs,
    row: PhaseRow,
    outcome: CallOutcome,
  ): Promise<PhaseResult>;
}

/** Runs a whole phase with an executor of this process. */
export async function runPhase(
  deps: PhaseDependencies,
  steps: PhaseSteps,
  args: RecoverArgs,
  left?: PhaseRow,
): Promise<PhaseResult> {
  const run = async (): Promise<PhaseResult> => {
    const started = performance.now();
    const question = await steps.begin(deps, args, left);
    if ('next' in question) return question;
    const { row } = question;
    return measured(deps, steps.name, { row, started }, async () =>
      steps.finish(deps, args, row, await callExecutor(deps, steps, question)),
    );
  };
  return steps.name === 'submit' ? sending(deps, ownerOf(args), run) : run();
}

/**
 * Makes the one call of a phase. A stopping worker waits for a submit, and for no other call. A
 * submit has its own time limit.
 */
export function callExecutor(
  deps: PhaseDependencies,
  steps: PhaseSteps,
  question: Question,
): Promise<CallOutcome> {
  return outcomeOf(() => {
    const executor = executorOf(deps, question.row);
    const call = (options: CallOptions): Promise<ExecutionResult | null> =>
      steps.call(deps, executor, question, options);
    if (steps.name === 'submit') return call(callOptions());
    const { timeout_seconds } = executor.descriptor;
    const seconds = steps.endsInTime === true ? timeout_seconds : undefined;
    return repeatableCall(deps, question.row, call, seconds);
  });
}

/**
 * Makes a call of the node's executor as {@link repeatable} does. An unexpected error becomes a
 * fault, which is counted: otherwise the call would be repeated without end, and no person would
 * ever see it. Thrown as it is: an error of an aborted call or of our database, which says nothing
 * about the executor.
 */
export function repeatableCall<T>(
  deps: PhaseDependencies,
  row: PhaseRow,
  call: (options: CallOptions) => Promise<T>,
  seconds?: number,
): Promise<T> {
  const counted = async (options: CallOptions): Promise<T> => {
    try {
      return await call(options);
    } catch (error) {
      const isOurs = isAway(error) || databaseFault(error) === 'conflict';
      if (error instanceof ExecutorFault || options.signal.aborted || isOurs) throw error;
      deps.log.error({ err: error, ...ownerOf(row) }, 'an executor failed unexpectedly');
      const name = error instanceof Error ? error.name : 'Error';
      // Only the name: the error's message may hold a secret.
      const message = `the executor failed unexpectedly (${name}); see the log of the worker`;
      throw new ExecutorFault('protocol', 'EXECUTOR_BROKE', message, { cause: error });
    }
  };
  return repeatable(deps, counted, seconds);
}

/** Turns a thrown {@link ExecutorFault} into an outcome; any other error is thrown. */
export async function outcomeOf(call: () => Promise<ExecutionResult | null>): Promise<CallOutcome> {
  try {
    return { answer: await call() };
  } catch (error) {
    if (error instanceof ExecutorFault) return { fault: error };
    throw error;
  }
}

/**
 * Returns the input of the call; calls `otherwise` when its context cannot be built (for example, a
 * signer is missing).
 */
export async function questionOr(
  make: () => Promise<Question>,
  otherwise: (fault: ExecutorFault) => Promise<PhaseResult>,
): Promise<Question | PhaseResult> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ExecutorFault) return otherwise(error);
    throw error;
  }
}
