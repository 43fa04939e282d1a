/**
 * Phases that are carried out one after the other in one activity, because nothing has to stand
 * between them: an activity of its own costs more than a phase of an executor that is a module of
 * the worker. Every phase still records what it says itself.
 */
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { measured } from '../phase-metrics.ts';
import { callOptions } from '../call.ts';
import { amountOf } from './amount.ts';
import { executorOf } from './bound-executor.ts';
import { type PhaseDependencies } from './context.ts';
import { result } from './results.ts';
import { mustWrite } from './write.ts';
import { observe } from './observe.ts';
import { given, runPhase, type Given, type Question } from './phase.ts';
import { passed, preflight } from './preflight.ts';
import { prepare, prepared } from './prepare.ts';
import { submit } from './submit.ts';

/**
 * preflight and, where it passes, prepare. Neither has an effect outside, so both are recorded by
 * one write.
 */
export async function preflightAndPrepare(
  deps: PhaseDependencies,
  args: PhaseArgs,
): Promise<PhaseResult> {
  const started = performance.now();
  const begun = await preflight.begin(deps, args);
  if ('next' in begun)
    return begun.next === 'continue' ? said('prepare', await runPhase(deps, prepare, args)) : begun;
  // Both are one write, so they are measured as one.
  return measured(deps, 'prepare', { row: begun.row, started }, () =>
    checkAndPrepare(deps, args, begun),
  );
}

async function checkAndPrepare(
  deps: PhaseDependencies,
  args: PhaseArgs,
  begun: Question,
): Promise<PhaseResult> {
  const { row } = begun;
  const checked = await given(() =>
    preflight.call(deps, executorOf(deps, row), begun, callOptions()),
  );
  if ('fault' in checked || checked.answer !== null)
    return preflight.finish(deps, args, row, checked);
  const made = await given(() => prepare.call(deps, executorOf(deps, row), begun, callOptions()));
  if (goesOn(made)) {
    await mustWrite(deps, row, passed(row), prepared(made.answer));
    return said('prepare', result('READY', 'continue'));
  }
  await preflight.finish(deps, args, row, checked);
  const after = { ...row, preflight_passed: true, amount: amountOf(row), error_count: 0 };
  return said('prepare', await prepare.finish(deps, args, after, made));
}

/**
 * submit and a first look at what came of it. Whatever the look meets, it takes nothing back of the
 * send.
 */
export async function submitAndLook(
  deps: PhaseDependencies,
  args: PhaseArgs,
): Promise<PhaseResult> {
  const started = performance.now();
  const begun = await submit.begin(deps, args);
  if ('next' in begun) return begun;
  const { row } = begun;
  let sent: Given = { answer: null };
  const said = await measured(deps, 'submit', { row, started }, async () => {
    sent = await given(() => submit.call(deps, executorOf(deps, row), begun, callOptions()));
    return submit.finish(deps, args, row, sent);
  });
  if (said.next !== 'continue') return said;
  const seen = await soon(deps, () => look(deps, args, submittedRow(row, sent)));
  return seen ?? { ...said, next: 'observe' };
}

async function look(deps: PhaseDependencies, args: PhaseArgs, row: PhaseRow): Promise<PhaseResult> {
  return said('observe', await runPhase(deps, observe, args, row));
}

/** Longest that a chained phase may take before its own activity has to do it. */
const SOON_MS = 1_000;

/**
 * What `work` says within a second; null when it fails or takes longer, for its own activity to
 * find out.
 */
export async function soon<T>(
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
  return { ...result, phase };
}

function goesOn(made: Given): made is Extract<Given, { answer: unknown }> {
  return 'answer' in made && (made.answer === null || made.answer.next_state === 'SUBMITTING');
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
    external_ref: answer?.external_ref ?? row.external_ref,
    output: answer?.output ?? row.output,
  };
}
