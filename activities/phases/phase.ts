/**
 * A phase in two halves around the call of an executor, so that the executor may be a module, an
 * HTTP service or a team's own worker: `begin` decides what is asked, `finish` makes the answer
 * durable.
 */
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
} from '../../domain/executor.ts';
import type { Phase, PhaseResult, RecoverArgs } from '../../domain/messages.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { measured } from '../phase-metrics.ts';
import { callOptions } from '../call.ts';
import { repeatable, sending } from '../leaving.ts';
import { executorOf } from './bound-executor.ts';
import { ownerOf, type PhaseDependencies } from './context.ts';

/**
 * What an executor is asked. The row is as `begin` left it: `finish` writes under its attempt and
 * epoch.
 */
export interface Question {
  readonly row: PhaseRow;
  readonly context: ExecutionContext;
  readonly prepared_action?: PhaseRow['prepared_action'];
  readonly sign_result?: Readonly<Record<string, string>>;
  /** Behind a fence: the last moment to send, on this process's monotonic clock. */
  readonly deadline?: number;
}

/** What came of it. */
export type Given = { readonly answer: ExecutionResult | null } | { readonly fault: ExecutorFault };

export interface PhaseSteps {
  readonly name: Phase;
  /**
   * What the row records of this phase, for one that runs again; null while it has still to be
   * said.
   */
  recorded(row: PhaseRow, args: RecoverArgs): PhaseResult | null;
  /**
   * Reads the node (unless a phase before it hands on the row that it left) and says what to ask,
   * or what is already known; throws no {@link ExecutorFault}.
   */
  begin(
    deps: PhaseDependencies,
    args: RecoverArgs,
    left?: PhaseRow,
  ): Promise<Question | PhaseResult>;
  /** One call. Throws {@link ExecutorFault} when it gives no usable answer. */
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
    given: Given,
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
    const begun = await steps.begin(deps, args, left);
    if ('next' in begun) return begun;
    const { row } = begun;
    return measured(deps, steps.name, { row, started }, async () =>
      steps.finish(deps, args, row, await asked(deps, steps, begun)),
    );
  };
  return steps.name === 'submit' ? sending(deps, ownerOf(args), run) : run();
}

/** The one call of a phase. A worker that stops waits for a submit, and for no other. */
export function asked(
  deps: PhaseDependencies,
  steps: PhaseSteps,
  question: Question,
): Promise<Given> {
  const call = (options: CallOptions): Promise<ExecutionResult | null> =>
    steps.call(deps, executorOf(deps, question.row), question, options);
  return given(() => (steps.name === 'submit' ? call(callOptions()) : repeatable(deps, call)));
}

/**
 * An {@link ExecutorFault} is an outcome of the call; any other error is a defect or an outage of
 * ours.
 */
export async function given(call: () => Promise<ExecutionResult | null>): Promise<Given> {
  try {
    return { answer: await call() };
  } catch (error) {
    if (error instanceof ExecutorFault) return { fault: error };
    throw error;
  }
}

/**
 * The question for a row, or what follows when its context cannot be made (a signer that is
 * missing).
 */
export async function question(
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
