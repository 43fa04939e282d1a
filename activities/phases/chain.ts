/**
 * Phases that are carried out one after the other in one activity, because nothing has to stand
 * between them: an activity of its own costs more than a phase of an executor that answers at once.
 * Every phase still records what it says itself, and between two of them the chain looks at the
 * time that it has left; within one it never gives up.
 */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { CarriedResult, PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { within } from '../call.ts';
import { delayOf, Overtaken } from '../failures.ts';
import type { Tell } from '../guarded.ts';
import { sending } from '../leaving.ts';
import { measured } from '../phase-metrics.ts';
import { amountOf } from './amount.ts';
import { ownerOf, type PhaseDependencies } from './context.ts';
import { passFence, type Fenced } from './fence.ts';
import { observe } from './observe.ts';
import { asked, runPhase, type Given, type PhaseSteps, type Question } from './phase.ts';
import { passed, preflight } from './preflight.ts';
import { prepare, prepared } from './prepare.ts';
import { result } from './results.ts';
import { phaseRow } from './row.ts';
import { signed, submit } from './submit.ts';
import { mustWrite } from './write.ts';

/** Longest that a chain may have taken when it begins another phase. */
const SOON_MS = 1_000;

/** Says whether a chain that begins now may still begin another phase. */
function inTime({
  soonMs = SOON_MS,
  leaving,
}: Pick<PhaseDependencies, 'soonMs' | 'leaving'>): () => boolean {
  const end = performance.now() + soonMs;
  return () => performance.now() < end && leaving?.left !== true;
}

/** What is ready to be sent and not recorded yet: the row as it was read, and prepare's answer. */
interface Sendable {
  readonly row: PhaseRow;
  readonly answer: ExecutionResult | null;
}

/**
 * preflight and, where it passes, prepare. Neither has an effect outside, so both are recorded by
 * one write.
 */
export async function preflightAndPrepare(
  deps: PhaseDependencies,
  args: PhaseArgs,
): Promise<PhaseResult> {
  const found = await checkAndPrepare(deps, args, inTime(deps));
  return 'next' in found ? found : recorded(deps, found);
}

/**
 * A node from its preflight to its end, and then, one after the other, the nodes that its
 * completion has made ready, for as long as all of them are quick. Each passes a fence of its own.
 */
export async function wholeChain(
  deps: PhaseDependencies,
  args: PhaseArgs,
  tell: Tell,
): Promise<PhaseResult> {
  const soon = inTime(deps);
  tell({ node_key: args.node_key });
  const first = await wholeSend(deps, args, soon);
  const carried: CarriedResult[] = [];
  let last = first;
  for (const next of args.onward ?? []) {
    if (!soon() || !makesReady(last, next)) break;
    tell({ node_key: next.node_key, completed: 1 + carried.length });
    const { node_key, attempt } = next;
    last = await carriedOn(deps, next, soon);
    carried.push({ node_key, attempt, result: last });
  }
  return carried.length === 0 ? first : { ...first, carried };
}

function makesReady({ advance }: PhaseResult, { node_key, attempt }: PhaseArgs): boolean {
  const ready = advance?.decision.ready ?? [];
  return ready.some((each) => each.node_key === node_key && each.attempt === attempt);
}

async function carriedOn(
  deps: PhaseDependencies,
  args: PhaseArgs,
  soon: () => boolean,
): Promise<PhaseResult> {
  try {
    return await wholeSend(deps, args, soon);
  } catch (error) {
    // As of a send that gave no answer: what has become of it is asked. The nodes before stand.
    deps.log.warn({ err: error, ...ownerOf(args) }, 'a chain broke off; recovery asks where');
    return result('SUBMITTING', 'recover');
  }
}

/**
 * A node from its preflight on: through the fence, and a first look at what came of the send. An
 * executor's error before the fence is for the phase's own activity to repeat.
 */
async function wholeSend(
  deps: PhaseDependencies,
  args: PhaseArgs,
  soon: () => boolean,
): Promise<PhaseResult> {
  const ready = await beforeFence(deps, args, soon);
  if (ready === 'prepared') return submitAndLook(deps, args, soon);
  if ('next' in ready) return ready;
  const { fenced, started } = ready;
  return sendAndLook(deps, args, () => signed(deps, fenced), started, soon);
}

/**
 * The node behind its fence, `prepared` where the fence is to be asked once more, or what else its
 * phases have come to. What has to be repeated is repeated by the phase's own activity.
 */
async function beforeFence(
  deps: PhaseDependencies,
  args: PhaseArgs,
  soon: () => boolean,
): Promise<{ readonly fenced: Fenced; readonly started: number } | PhaseResult | 'prepared'> {
  try {
    const found = await checkAndPrepare(deps, args, soon);
    if ('next' in found) {
      const isPrepared = found.next === 'continue' && found.phase === 'prepare';
      return isPrepared && soon() ? 'prepared' : found;
    }
    if (!soon()) return await recorded(deps, found);
    const started = performance.now();
    const fenced = await fenceAtOnce(deps, found);
    if (fenced !== null) return { fenced, started };
    // The long way says why.
    await recorded(deps, found);
    return 'prepared';
  } catch (error) {
    const delay_ms = error instanceof Overtaken ? 0 : delayOf(error);
    if (delay_ms === null) throw error;
    return said('preflight', { ...result('READY', 'again'), delay_ms });
  }
}

/** The fence with what was found; the time before it is looked at by the long way alone. */
async function fenceAtOnce(
  deps: PhaseDependencies,
  { row, answer }: Sendable,
): Promise<Fenced | null> {
  if (row.node.timeout_policy?.execution_seconds !== undefined) return null;
  const found = [passed(row), prepared(answer)];
  const fenced = await passFence(deps, preparedRow(row, answer), found);
  return 'unfenced' in fenced ? null : fenced;
}

async function recorded(deps: PhaseDependencies, { row, answer }: Sendable): Promise<PhaseResult> {
  await mustWrite(deps, row, passed(row), prepared(answer));
  return said('prepare', result('READY', 'continue'));
}

/** What there is to send; or what was recorded, where that is not what was asked for. */
async function checkAndPrepare(
  deps: PhaseDependencies,
  args: PhaseArgs,
  soon: () => boolean,
): Promise<Sendable | PhaseResult> {
  const started = performance.now();
  const begun = await preflight.begin(deps, args);
  if ('next' in begun) {
    if (begun.next !== 'continue') return said('preflight', begun);
    return said('prepare', await runPhase(deps, inItsTime(prepare), args));
  }
  const { row } = begun;
  let answer: ExecutionResult | null = null;
  // Both are one write, so they are measured as one.
  const told = await measured(deps, 'prepare', { row, started }, async () => {
    const asked = await askBoth(deps, args, begun, soon);
    if ('next' in asked) return asked;
    ({ answer } = asked);
    return result('READY', 'continue');
  });
  return told.phase === undefined && told.next === 'continue' ? { row, answer } : told;
}

async function askBoth(
  deps: PhaseDependencies,
  args: PhaseArgs,
  begun: Question,
  soon: () => boolean,
): Promise<Sendable | PhaseResult> {
  const { row } = begun;
  const checked = await asked(deps, inItsTime(preflight), begun);
  if ('fault' in checked || checked.answer !== null || !soon())
    return said('preflight', await preflight.finish(deps, args, row, checked));
  const made = await asked(deps, inItsTime(prepare), begun);
  if (goesOn(made)) return { row, answer: made.answer };
  await preflight.finish(deps, args, row, checked);
  const after = { ...row, preflight_passed: true, amount: amountOf(row), error_count: 0 };
  return said('prepare', await prepare.finish(deps, args, after, made));
}

/**
 * The phase with a call that is over when the executor's own time-out is, whatever a module does:
 * the chain holds an activity that may have only one attempt.
 */
function inItsTime(steps: PhaseSteps): PhaseSteps {
  return {
    ...steps,
    call: async (deps, executor, question, options) => {
      const { timeout_seconds } = executor.descriptor;
      const milliseconds = timeout_seconds * 1000;
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<never>((_, reject) => {
        const message = `no answer within ${String(timeout_seconds)} s`;
        const fault = new ExecutorFault('timeout', 'EXECUTOR_TIMEOUT', message);
        timer = setTimeout(() => reject(fault), milliseconds);
      });
      try {
        const asked = steps.call(deps, executor, question, within(options, milliseconds));
        return await Promise.race([asked, over]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** preflight of a node that only looks, once, and a look. */
export async function preflightAndLook(
  deps: PhaseDependencies,
  args: PhaseArgs,
): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  const known = preflight.recorded(row, args);
  const isBefore = row.state === 'READY' && known?.next !== 'continue';
  if (!isBefore) return said('observe', await runPhase(deps, observe, args, row));
  const checked = known ?? (await runPhase(deps, preflight, args));
  if (checked.next !== 'continue') return said('preflight', checked);
  return said('observe', await runPhase(deps, observe, args));
}

/**
 * submit and a first look at what came of it. Whatever the look meets, it takes nothing back of the
 * send.
 */
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
  const told = await sending(deps, ownerOf(args), async () => {
    const begun = await begin();
    if ('next' in begun) return begun;
    const { row } = begun;
    return measured(deps, 'submit', { row, started }, async () => {
      const given = await asked(deps, submit, begun);
      sent.row = submittedRow(row, given);
      return submit.finish(deps, args, row, given);
    });
  });
  if (told.next !== 'continue' || sent.row === undefined) return said('submit', told);
  const seen = soon() ? await look(deps, args, sent.row) : null;
  return seen ?? said('submit', { ...told, next: 'observe' });
}

/** Null where it told nothing, for its own activity to find out why. */
async function look(
  deps: PhaseDependencies,
  args: PhaseArgs,
  row: PhaseRow,
): Promise<PhaseResult | null> {
  try {
    return said('observe', await runPhase(deps, inItsTime(observe), args, row));
  } catch {
    return null;
  }
}

/**
 * What `work` says within a second; null when it fails or takes longer, for its own activity to
 * find out. For what holds a workflow's task.
 */
export async function orTooLate<T>(
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

function said(phase: NonNullable<PhaseResult['phase']>, result: PhaseResult): PhaseResult {
  return { phase, ...result };
}

function goesOn(made: Given): made is Extract<Given, { answer: unknown }> {
  return 'answer' in made && (made.answer === null || made.answer.next_state === 'SUBMITTING');
}

/** The row as the records of preflight and prepare leave it. */
function preparedRow(row: PhaseRow, answer: ExecutionResult | null): PhaseRow {
  return {
    ...row,
    preflight_passed: true,
    amount: amountOf(row),
    prepared_action: answer?.prepared_action ?? {},
    sign_request: answer?.sign_request ?? null,
    error_count: 0,
    started_ms: row.started_ms ?? row.now_ms,
  };
}

/** The row as the record of this answer left it. */
function submittedRow(row: PhaseRow, sent: Given): PhaseRow {
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
