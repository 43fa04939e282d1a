/**
 * The two halves of a phase whose executor is a team's own worker: `ask` returns the input of the
 * worker's call, `record` stores its answer. The fence, the checks and the writes stay in the
 * service.
 */
import {
  ExecutorFault,
  type ExecutorDescriptor,
  type ExecutorFaultKind,
  type TaskQueueSubmit,
} from '../../domain/executor.ts';
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
import { closeQuestion, isOpenQuestion, openQuestion } from '../../store/questions.ts';
import { backoffSeconds, delayOf, lookPauseSeconds, Overtaken } from '../failures.ts';
import { measured, notePhaseStart, takePhaseStart } from '../phase-metrics.ts';
import { cancellable, noteCancelRequested, nullIfLost } from './cancel.ts';
import { descriptorOf } from './bound-executor.ts';
import type { PhaseDependencies } from './context.ts';
import { phaseRow } from './row.ts';
import { result } from './results.ts';
import { observe } from './observe.ts';
import type { CallOutcome, PhaseSteps, Question } from './phase.ts';
import { preflight } from './preflight.ts';
import { prepare } from './prepare.ts';
import { recover } from './recover.ts';
import { NotBelieved, unknownBySilence } from './settle.ts';
import { notStarted, submit } from './submit.ts';
import { teamOf, whyDoubtful } from './team-word.ts';

/** The steps of every phase, by the phase's name. */
export const STEPS: Readonly<Record<Phase, PhaseSteps>> = {
  preflight,
  prepare,
  submit,
  observe,
  recover,
};

/**
 * Milliseconds before the run tries again when the executor is no team's worker or no question is
 * open.
 */
const LOOK_AGAIN_MS = 1_000;

/** Returns the input for a team's worker. For a node of another executor, only reads the node. */
export async function ask(deps: PhaseDependencies, args: AskArgs): Promise<AskResult> {
  const row = await phaseRow(deps, args);
  if (teamOf(deps, row) === null) return { result: lookAgain(row) };
  return waiting(
    () => (args.phase === 'cancel' ? askCancel(deps, args) : askPhase(deps, args.phase, args)),
    (again) => ({ result: again }),
  );
}

async function askPhase(deps: PhaseDependencies, phase: Phase, args: AskArgs): Promise<AskResult> {
  const started = performance.now();
  const question = await STEPS[phase].begin(deps, args);
  if ('next' in question) return { result: question };
  notePhaseStart(phaseKey(args), started);
  const input = phase === 'submit' ? submitInput(question) : question.context;
  return { ask: { input, ...(await limits(deps, phase, question.row)) } };
}

function lookAgain(row: PhaseRow): PhaseResult {
  return { ...result(row.state, 'again'), delay_ms: LOOK_AGAIN_MS };
}

async function askCancel(deps: PhaseDependencies, args: AskArgs): Promise<AskResult> {
  const open = await nullIfLost(deps, args, () => cancellable(deps, args));
  return open === null
    ? { result: { state: 'OBSERVING', next: 'stop', error_code: null } }
    : { ask: { input: open.context, ...(await limits(deps, 'cancel', open.row)) } };
}

async function limits(
  deps: PhaseDependencies,
  phase: AskArgs['phase'],
  row: PhaseRow,
): Promise<Omit<Ask, 'input'>> {
  const question = await openQuestion(deps.db, phase, row);
  if (question === null)
    throw new Overtaken(`${row.node_key} changed before its executor was called`);
  return {
    question,
    timeout_ms: Math.round(descriptorOf(deps, row).timeout_seconds * 1000),
    epoch: row.epoch,
    errors: errorsOf(row),
  };
}

/**
 * Returns the number of errors before the send plus unanswered looks. `record` compares it, so that
 * each error is counted once.
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

/**
 * Records the answer of a team's worker to an open question. Anyone with access to Temporal can
 * call this with any arguments, so an answer to no open question changes nothing.
 */
export function record(deps: PhaseDependencies, args: RecordArgs): Promise<PhaseResult> {
  return waiting(
    () =>
      args.phase === 'cancel' ? recordCancel(deps, args) : recordPhase(deps, args.phase, args),
    (again) => again,
  );
}

/** Returns whether the answer belongs to an open question. */
async function answersQuestion(
  deps: PhaseDependencies,
  row: PhaseRow,
  { phase, question, attempt, epoch }: RecordArgs,
): Promise<boolean> {
  if (question === undefined || row.attempt !== attempt || row.epoch !== epoch) return false;
  return isOpenQuestion(deps.db, phase, row, question);
}

/** Closes the question once its answer is stored, also when the answer means "look again". */
async function andClose(
  deps: PhaseDependencies,
  { phase, question = '' }: RecordArgs,
  row: PhaseRow,
  write: () => Promise<PhaseResult>,
): Promise<PhaseResult> {
  try {
    const said = await write();
    await closeQuestion(deps.db, phase, row, question);
    return said;
  } catch (error) {
    if (delayOf(error) !== null) await closeQuestion(deps.db, phase, row, question);
    throw error;
  }
}

async function recordPhase(
  deps: PhaseDependencies,
  phase: Phase,
  args: RecordArgs,
): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  const team = teamOf(deps, row);
  if (team === null) return lookAgain(row);
  const started = takePhaseStart(phaseKey(args));
  const finish = (): Promise<PhaseResult> => finishPhase(deps, phase, args, row, team);
  return started === null ? finish() : measured(deps, phase, { row, started }, finish);
}

function phaseKey({ movement_id, node_key, attempt, phase }: AskArgs): string {
  return `${movement_id}:${node_key}:${String(attempt)}:${phase}`;
}

async function finishPhase(
  deps: PhaseDependencies,
  phase: Phase,
  args: RecordArgs,
  row: PhaseRow,
  team: ExecutorDescriptor,
): Promise<PhaseResult> {
  // Another worker took over meanwhile, so the phase starts again from what that worker wrote.
  if (row.attempt !== args.attempt || row.epoch !== args.epoch)
    return { ...result(row.state, 'again'), delay_ms: 0 };
  // This call ran before and its result was lost after the commit: return the result that it
  // recorded.
  const recorded = STEPS[phase].recorded(row, args);
  if (recorded !== null) return recorded;
  if (args.errors !== undefined && errorsOf(row) > args.errors)
    return { ...result(row.state, 'again'), delay_ms: pauseOf(row) };
  if (!(await answersQuestion(deps, row, args)))
    return phase === 'submit' ? result(row.state, 'recover') : lookAgain(row);
  return andClose(deps, args, row, async () => {
    if (phase === 'submit' && 'fault' in args.given && args.given.fault.kind === 'not_started')
      return notStarted(deps, row);
    const doubtful = await whyDoubtful(deps, team, row, args);
    if (doubtful === null) return STEPS[phase].finish(deps, args, row, read(args));
    const fault = new NotBelieved(doubtful);
    return args.from_unknown === true
      ? STEPS[phase].finish(deps, args, row, { fault })
      : unknownBySilence(deps, row, fault);
  });
}

async function recordCancel(deps: PhaseDependencies, args: RecordArgs): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  if (teamOf(deps, row) !== null && (await answersQuestion(deps, row, args))) {
    if ('answer' in args.given) await noteCancelRequested(deps, args);
    await closeQuestion(deps.db, 'cancel', row, args.question ?? '');
  }
  return { state: 'OBSERVING', next: 'stop', error_code: null };
}

/** Returns the worker's answer, checked against the protocol like any executor's answer. */
function read({ phase, given: outcome }: RecordArgs): CallOutcome {
  if ('fault' in outcome) return { fault: failedCall(outcome.fault.kind) };
  if (outcome.answer === null && phase === 'preflight') return { answer: null };
  try {
    return { answer: parseResult(phase, outcome.answer) };
  } catch (error) {
    if (error instanceof ExecutorFault) return { fault: error };
    throw error;
  }
}

/**
 * Returns the fault of a call that failed, with the code of its kind (`faultOf` of the workflow).
 * The code that arrives over Temporal is not read: it may be one by which the service acts.
 */
function failedCall(kind: string): ExecutorFault {
  switch (kind) {
    case 'not_started':
      return new ExecutorFault(
        'unreachable',
        'EXECUTOR_NOT_POLLING',
        'no worker polls the task queue of this executor',
      );
    case 'timeout':
      return workerFailed('timeout', 'EXECUTOR_TIMEOUT');
    case 'rejected':
      return workerFailed('rejected', 'EXECUTOR_REJECTED');
    default:
      return workerFailed('server_error', 'EXECUTOR_UNAVAILABLE');
  }
}

function workerFailed(kind: ExecutorFaultKind, code: string): ExecutorFault {
  return new ExecutorFault(kind, code, `the executor's worker failed (${code})`);
}

/**
 * Turns a "look again later" failure into a result, so that the workflow waits and not the local
 * activity.
 */
async function waiting<T>(work: () => Promise<T>, again: (result: PhaseResult) => T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const delay = delayOf(error);
    if (delay === null) throw error;
    return again({ state: 'OBSERVING', next: 'again', error_code: null, delay_ms: delay });
  }
}
