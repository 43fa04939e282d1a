/**
 * Runs several phases in one activity: a separate activity costs more than a phase whose executor
 * answers at once. Every phase still records its own result. The chain checks the time left between
 * two phases, and never stops inside a phase.
 */
import type { ExecutionResult } from '../../domain/executor.ts';
import type { CarriedResult, PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { venueWaitOf } from '../../domain/venue-waits.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { delayOf, Overtaken } from '../failures.ts';
import type { Tell } from '../guarded.ts';
import { sending } from '../leaving.ts';
import { measured } from '../phase-metrics.ts';
import { amountOf } from './amount.ts';
import { ownerOf, type Ahead, type PhaseDependencies } from './context.ts';
import { passFence, type Fenced } from './fence.ts';
import { observe } from './observe.ts';
import {
  callExecutor,
  runPhase,
  type CallOutcome,
  type PhaseSteps,
  type Question,
} from './phase.ts';
import { passed, preflight } from './preflight.ts';
import { prepare, prepared } from './prepare.ts';
import { result } from './results.ts';
import { makesReady, phaseRow } from './row.ts';
import { signed, submit } from './submit.ts';
import { mustWrite } from './write.ts';

/** Milliseconds after which a chain starts no further phase. */
const SOON_MS = 1_000;

/**
 * Starts to measure the chain's time. The returned function says whether another phase may start.
 */
function inTime({
  soonMs = SOON_MS,
  leaving,
}: Pick<PhaseDependencies, 'soonMs' | 'leaving'>): () => boolean {
  const end = performance.now() + soonMs;
  return () => performance.now() < end && leaving?.left !== true;
}

/**
 * A node that may be sent but whose preflight and prepare are not recorded yet: its row as read,
 * and the answer of prepare.
 */
interface Sendable {
  readonly row: PhaseRow;
  readonly answer: ExecutionResult | null;
}

/** Runs preflight, then prepare. Neither has an outside effect, so one write records both. */
export async function preflightAndPrepare(
  deps: PhaseDependencies,
  args: PhaseArgs,
): Promise<PhaseResult> {
  const found = await checkAndPrepare(deps, args, inTime(deps));
  return 'next' in found ? found : recorded(deps, found);
}

/**
 * Runs a node from its preflight to its end, and then, while time is left, one after the other the
 * nodes that its completion made ready. Each node passes its own fence.
 */
export async function wholeChain(
  deps: PhaseDependencies,
  args: PhaseArgs,
  tell: Tell,
): Promise<PhaseResult> {
  const soon = inTime(deps);
  const onward = (args.onward ?? []).map((next): Ahead => ({ args: next, soon, row: null }));
  tell({ node_key: args.node_key });
  const first = await wholeSend({ ...deps, ahead: onward[0] }, args, soon);
  const carried: CarriedResult[] = [];
  let last = first;
  for (const [index, next] of onward.entries()) {
    const { node_key, attempt } = next.args;
    const { advance } = last;
    if (!soon() || advance === undefined || !makesReady(advance.decision, next.args)) break;
    tell({ node_key, completed: 1 + carried.length });
    last = await carriedOn({ ...deps, ahead: onward[index + 1] }, next);
    carried.push({ node_key, attempt, result: last });
  }
  return carried.length === 0 ? first : { ...first, carried };
}

async function carriedOn(
  deps: PhaseDependencies,
  { args, soon, row }: Ahead,
): Promise<PhaseResult> {
  try {
    return await wholeSend(deps, args, soon, row ?? undefined);
  } catch (error) {
    // The send may have happened, so recovery looks for it. Results of earlier nodes stay.
    deps.log.warn(
      { err: error, ...ownerOf(args) },
      'a chain of phases failed, perhaps after its send; recovery looks for the send',
    );
    return result('SUBMITTING', 'recover');
  }
}

/**
 * Runs a node from its preflight through the fence to a first look at its send; reads the node,
 * unless the write before passes its row as `left`. After an executor's error before the fence, the
 * phase's own activity repeats the phase.
 */
async function wholeSend(
  deps: PhaseDependencies,
  args: PhaseArgs,
  soon: () => boolean,
  left?: PhaseRow,
): Promise<PhaseResult> {
  const ready = await beforeFence(deps, args, soon, left);
  if (ready === 'prepared') return submitAndLook(deps, args, soon);
  if ('next' in ready) return ready;
  const { fenced, started } = ready;
  return sendAndLook(deps, args, () => signed(deps, fenced), started, soon);
}

/**
 * Returns the node after its fence; `prepared` when the fence must be tried again; else the result
 * of its phases. Anything that must be repeated is left to the phase's own activity.
 */
async function beforeFence(
  deps: PhaseDependencies,
  args: PhaseArgs,
  soon: () => boolean,
  left?: PhaseRow,
): Promise<{ readonly fenced: Fenced; readonly started: number } | PhaseResult | 'prepared'> {
  try {
    const found = await checkAndPrepare(deps, args, soon, left);
    if ('next' in found) {
      const isPrepared = found.next === 'continue' && found.phase === 'prepare';
      return isPrepared && soon() ? 'prepared' : found;
    }
    if (!soon()) return await recorded(deps, found);
    const started = performance.now();
    const fenced = await fenceAtOnce(deps, found);
    if (fenced !== null) return { fenced, started };
    // The fence was not passed; `longFence` finds out why.
    await recorded(deps, found);
    return 'prepared';
  } catch (error) {
    const delay_ms = error instanceof Overtaken ? 0 : delayOf(error);
    if (delay_ms === null) throw error;
    return withPhase('preflight', { ...result('READY', 'again'), delay_ms });
  }
}

/**
 * Passes the fence in the write that also records preflight and prepare; null when the fence was
 * not passed. A node with `execution_seconds` is left to `longFence`, which alone checks that
 * limit.
 */
async function fenceAtOnce(
  deps: PhaseDependencies,
  { row, answer }: Sendable,
): Promise<Fenced | null> {
  if (row.node.timeout_policy?.execution_seconds !== undefined) return null;
  const found = [passed(row), prepared(row, answer)];
  const fenced = await passFence(deps, preparedRow(row, answer), found);
  return 'unfenced' in fenced ? null : fenced;
}

async function recorded(deps: PhaseDependencies, { row, answer }: Sendable): Promise<PhaseResult> {
  await mustWrite(deps, row, passed(row), prepared(row, answer));
  return withPhase('prepare', result('READY', 'continue'));
}

/** Returns a node that is ready to send, or the recorded result of a phase that ended otherwise. */
async function checkAndPrepare(
  deps: PhaseDependencies,
  args: PhaseArgs,
  soon: () => boolean,
  left?: PhaseRow,
): Promise<Sendable | PhaseResult> {
  const started = performance.now();
  const question = await preflight.begin(deps, args, left);
  if ('next' in question) {
    if (question.next !== 'continue') return withPhase('preflight', question);
    return withPhase('prepare', await runPhase(deps, withTimeout(prepare), args));
  }
  const { row } = question;
  let answer: ExecutionResult | null = null;
  // One write records both phases, so one measurement covers both.
  const recorded = await measured(deps, 'prepare', { row, started }, async () => {
    const both = await callBoth(deps, args, question, soon);
    if ('next' in both) return both;
    ({ answer } = both);
    return result('READY', 'continue');
  });
  return recorded.phase === undefined && recorded.next === 'continue' ? { row, answer } : recorded;
}

async function callBoth(
  deps: PhaseDependencies,
  args: PhaseArgs,
  question: Question,
  soon: () => boolean,
): Promise<Sendable | PhaseResult> {
  const { row } = question;
  const checked = await callExecutor(deps, withTimeout(preflight), question);
  if ('fault' in checked || checked.answer !== null || !soon())
    return withPhase('preflight', await preflight.finish(deps, args, row, checked));
  const made = await callExecutor(deps, withTimeout(prepare), question);
  if (mayContinue(made)) return { row, answer: made.answer };
  // Preflight is called again after the wait, so this pass is not recorded.
  if (makesWait(made)) return withPhase('preflight', await prepare.finish(deps, args, row, made));
  await preflight.finish(deps, args, row, checked);
  const after = { ...row, preflight_passed: true, amount: amountOf(row), error_count: 0 };
  return withPhase('prepare', await prepare.finish(deps, args, after, made));
}

/**
 * Returns the phase with a time limit: its call ends at the executor's time-out even if the
 * executor ignores the abort signal. Several phases run in one activity, which may have only one
 * attempt, so no call may hang.
 */
function withTimeout(steps: PhaseSteps): PhaseSteps {
  return { ...steps, endsInTime: true };
}

/** Runs preflight once and then a look, for a node that only looks. */
export async function preflightAndLook(
  deps: PhaseDependencies,
  args: PhaseArgs,
): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  const known = preflight.recorded(row, args);
  const isBefore = row.state === 'READY' && known?.next !== 'continue';
  if (!isBefore) return withPhase('observe', await runPhase(deps, observe, args, row));
  const checked = known ?? (await runPhase(deps, preflight, args));
  if (checked.next !== 'continue') return withPhase('preflight', checked);
  return withPhase('observe', await runPhase(deps, observe, args));
}

/** Runs submit and a first look. A failed look does not change the result of the send. */
export async function submitAndLook(
  deps: PhaseDependencies,
  args: PhaseArgs,
  soon = inTime(deps),
): Promise<PhaseResult> {
  const started = performance.now();
  return sendAndLook(deps, args, () => submit.begin(deps, args), started, soon);
}

async function sendAndLook(
  deps: PhaseDependencies,
  args: PhaseArgs,
  begin: () => Promise<Question | PhaseResult>,
  started: number,
  soon: () => boolean,
): Promise<PhaseResult> {
  const sent: { row?: PhaseRow } = {};
  const submitted = await sending(deps, ownerOf(args), async () => {
    const question = await begin();
    if ('next' in question) return question;
    const { row } = question;
    return measured(deps, 'submit', { row, started }, async () => {
      const outcome = await callExecutor(deps, submit, question);
      sent.row = submittedRow(row, outcome);
      return submit.finish(deps, args, row, outcome);
    });
  });
  if (submitted.next !== 'continue' || sent.row === undefined)
    return withPhase('submit', submitted);
  const seen = soon() ? await look(deps, args, sent.row) : null;
  return seen ?? withPhase('submit', { ...submitted, next: 'observe' });
}

/** Looks once; returns null when the look fails, and observe's own activity then repeats it. */
async function look(
  deps: PhaseDependencies,
  args: PhaseArgs,
  row: PhaseRow,
): Promise<PhaseResult | null> {
  try {
    return withPhase('observe', await runPhase(deps, withTimeout(observe), args, row));
  } catch {
    return null;
  }
}

/**
 * Returns the result of `work` if it is ready within a second, else null (also when `work` fails);
 * the phase's own activity then does the work. Used by local activities: a slow one would block the
 * workflow's task.
 */
export async function nullAfter<T>(
  { soonMs = SOON_MS }: Pick<PhaseDependencies, 'soonMs'>,
  work: () => Promise<T>,
): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), soonMs);
  });
  try {
    return await Promise.race([work().catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}

function withPhase(phase: NonNullable<PhaseResult['phase']>, result: PhaseResult): PhaseResult {
  return { phase, ...result };
}

function mayContinue(made: CallOutcome): made is Extract<CallOutcome, { answer: unknown }> {
  return 'answer' in made && (made.answer === null || made.answer.next_state === 'SUBMITTING');
}

function makesWait(made: CallOutcome): boolean {
  return 'answer' in made && made.answer !== null && venueWaitOf(made.answer) !== null;
}

/** Returns the row as it will be once preflight and prepare are recorded. */
function preparedRow(row: PhaseRow, answer: ExecutionResult | null): PhaseRow {
  return {
    ...row,
    preflight_passed: true,
    amount: amountOf(row),
    prepared_action: answer?.prepared_action ?? {},
    sign_request: answer?.sign_request ?? null,
    error_count: 0,
    started_ms: row.started_ms ?? row.now_ms,
    ...(row.wait_overdue_ms === null ? {} : NOT_WAITING),
  };
}

const NOT_WAITING = { error_code: null, error_message: null, wait_overdue_ms: null } as const;

/** Returns the row as it is after submit's answer was recorded. */
function submittedRow(row: PhaseRow, sent: CallOutcome): PhaseRow {
  const answer = 'answer' in sent ? sent.answer : null;
  return {
    ...row,
    state: 'SUBMITTED',
    submitted_ms: row.now_ms,
    error_count: 0,
    unanswered: 0,
    unanswered_ms: null,
    external_ref: answer?.external_ref ?? row.external_ref,
    output: answer?.output ?? row.output,
  };
}
