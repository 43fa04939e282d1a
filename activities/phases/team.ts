/**
 * The two halves of a phase whose executor is a team's own worker: `ask` says what that worker is
 * called with, `record` makes its answer durable. Fence, checks and writes stay here.
 */
import { ExecutorFault, type TaskQueueSubmit } from '../../domain/executor.ts';
import type {
  Ask,
  AskArgs,
  AskResult,
  Phase,
  PhaseResult,
  RecordArgs,
} from '../../domain/messages.ts';
import { parseResult } from '../../executors/protocol.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { backoffSeconds, delayOf, lookPauseSeconds } from '../failures.ts';
import { measured, noteAsking, takeAsking } from '../phase-metrics.ts';
import { cancellable, noteAsked } from './cancel.ts';
import { descriptorOf } from './bound-executor.ts';
import type { PhaseDependencies } from './context.ts';
import { phaseRow } from './row.ts';
import { result } from './results.ts';
import { observe } from './observe.ts';
import type { Given, PhaseSteps, Question } from './phase.ts';
import { preflight } from './preflight.ts';
import { prepare } from './prepare.ts';
import { recover } from './recover.ts';
import { notStarted, submit } from './submit.ts';

/** Every phase by its name. */
export const STEPS: Readonly<Record<Phase, PhaseSteps>> = {
  preflight,
  prepare,
  submit,
  observe,
  recover,
};

export function ask(deps: PhaseDependencies, args: AskArgs): Promise<AskResult> {
  return waiting(
    () => (args.phase === 'cancel' ? askCancel(deps, args) : askPhase(deps, args.phase, args)),
    (again) => ({ result: again }),
  );
}

async function askPhase(deps: PhaseDependencies, phase: Phase, args: AskArgs): Promise<AskResult> {
  const started = performance.now();
  const begun = await STEPS[phase].begin(deps, args);
  if ('next' in begun) return { result: begun };
  noteAsking(askedKey(args), started);
  return {
    ask: {
      input: phase === 'submit' ? submitInput(begun) : begun.context,
      ...limits(deps, begun.row),
    },
  };
}

async function askCancel(deps: PhaseDependencies, args: AskArgs): Promise<AskResult> {
  const asked = await cancellable(deps, args);
  return asked === null
    ? { result: { state: 'OBSERVING', next: 'stop', error_code: null } }
    : { ask: { input: asked.context, ...limits(deps, asked.row) } };
}

function limits(deps: PhaseDependencies, row: PhaseRow): Omit<Ask, 'input'> {
  return {
    timeout_ms: Math.round(descriptorOf(deps, row).timeout_seconds * 1000),
    epoch: row.epoch,
    errors: errorsOf(row),
  };
}

/**
 * Errors before the send and looks after it: what a record that runs again must not count twice.
 */
function errorsOf(row: PhaseRow): number {
  return row.error_count + row.unanswered;
}

function pauseOf(row: PhaseRow): number {
  const { retry_policy } = row.node;
  const seconds =
    row.unanswered > 0
      ? lookPauseSeconds(retry_policy, row.unanswered)
      : backoffSeconds(retry_policy, row.error_count);
  return Math.round(seconds * 1000);
}

function submitInput({ row, context, prepared_action, sign_result }: Question): TaskQueueSubmit {
  return {
    context,
    prepared_action: prepared_action ?? {},
    ...(sign_result === undefined ? {} : { sign_result }),
    send_not_after: new Date(row.send_not_after_ms ?? row.now_ms).toISOString(),
  };
}

export function record(deps: PhaseDependencies, args: RecordArgs): Promise<PhaseResult> {
  return waiting(
    () =>
      args.phase === 'cancel' ? recordCancel(deps, args) : recordPhase(deps, args.phase, args),
    (again) => again,
  );
}

async function recordPhase(
  deps: PhaseDependencies,
  phase: Phase,
  args: RecordArgs,
): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  const started = takeAsking(askedKey(args));
  const finish = (): Promise<PhaseResult> => finishPhase(deps, phase, args, row);
  return started === null ? finish() : measured(deps, phase, { row, started }, finish);
}

function askedKey({ movement_id, node_key, attempt, phase }: AskArgs): string {
  return `${movement_id}:${node_key}:${String(attempt)}:${phase}`;
}

async function finishPhase(
  deps: PhaseDependencies,
  phase: Phase,
  args: RecordArgs,
  row: PhaseRow,
): Promise<PhaseResult> {
  // Somebody took over meanwhile; what they wrote is what the phase says when it begins anew.
  if (row.attempt !== args.attempt || row.epoch !== args.epoch)
    return { ...result(row.state, 'again'), delay_ms: 0 };
  // This ran before, and its task was lost after the commit: what it wrote then is what it says
  // now.
  const recorded = STEPS[phase].recorded(row, args);
  if (recorded !== null) return recorded;
  if (args.errors !== undefined && errorsOf(row) > args.errors)
    return { ...result(row.state, 'again'), delay_ms: pauseOf(row) };
  if (phase === 'submit' && 'fault' in args.given && args.given.fault.kind === 'not_started')
    return notStarted(deps, row);
  return STEPS[phase].finish(deps, args, row, read(args));
}

async function recordCancel(deps: PhaseDependencies, args: RecordArgs): Promise<PhaseResult> {
  if ('answer' in args.given) await noteAsked(deps, args);
  return { state: 'OBSERVING', next: 'stop', error_code: null };
}

/** The worker's answer, held against the protocol as any other executor's is. */
function read({ phase, given }: RecordArgs): Given {
  if ('fault' in given) {
    const { kind, code } = given.fault;
    const message =
      kind === 'not_started'
        ? 'no worker polls the task queue of this executor'
        : `the executor's worker failed (${code})`;
    return {
      fault: new ExecutorFault(kind === 'not_started' ? 'unreachable' : kind, code, message),
    };
  }
  if (given.answer === null && phase === 'preflight') return { answer: null };
  try {
    return { answer: parseResult(phase, given.answer) };
  } catch (error) {
    if (error instanceof ExecutorFault) return { fault: error };
    throw error;
  }
}

/** A "look again later" becomes an answer: the workflow waits, since a local activity must not. */
async function waiting<T>(work: () => Promise<T>, again: (result: PhaseResult) => T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const delay = delayOf(error);
    if (delay === null) throw error;
    return again({ state: 'OBSERVING', next: 'again', error_code: null, delay_ms: delay });
  }
}
