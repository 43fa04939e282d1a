/**
 * Looks for the sends of abandoned nodes. A landing is noted, which brings the movement into
 * attention; nothing is sent, signed or decided from here.
 */
import type { Logger } from 'pino';
import { isLanding, landedLate } from '../../domain/commands/landed-late.ts';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
} from '../../domain/executor.ts';
import { heldTo } from '../../domain/plan/assurance.ts';
import { VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import type { Signing } from '../../domain/signing.ts';
import type { NodeRef } from '../../domain/transition.ts';
import { settleEach, throwFirst } from '../../platform/at-once.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { readClaimed } from '../../store/claims.ts';
import {
  needsClaim,
  noteLateLook,
  takeLateLooks,
  type LateLookOutcome,
} from '../../store/late-looks.ts';
import { readPhase, type PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { amountOf } from '../phases/amount.ts';
import { claimsWith } from '../phases/claims.ts';
import { assuranceOf, contextOf } from '../phases/context.ts';
import { isFollowed, lookAtChain } from '../phases/followed.ts';
import { readingJournal } from '../phases/journal.ts';
import type { RequirementSources } from '../requirements/requirement.ts';

const MOST = 50;
/** Looks that are under way at the same time. */
const AT_ONCE = 4;
/** Time limit of a look at a chain, which may search its blocks. */
const CHAIN_SECONDS = 60;

export interface LateLookOptions extends RequirementSources {
  readonly log: Logger;
  /** `get` returns those that this process can call; no others are called. */
  readonly executors: {
    list(): readonly ExecutorDescriptor[];
    get(key: string): Executor | undefined;
    describe(key: string): ExecutorDescriptor | undefined;
  };
  readonly signing: Signing;
  /** Also the shortest pause between two looks at a node. */
  readonly pauseMs: number;
}

/** Starts the loop. Many processes may run it: only one at a time looks for a node. */
export function startLateLooks(options: LateLookOptions): Loop {
  const { log, pauseMs } = options;
  const ending = new AbortController();
  const loop = startLoop({
    name: 'late looks',
    pauseMs,
    log,
    work: () => lookForAbandoned(options, ending.signal),
  });
  return {
    ...loop,
    stop: () => {
      ending.abort();
      return loop.stop();
    },
  };
}

/** Makes the looks that are due. Returns whether more may be due. */
export async function lookForAbandoned(
  options: LateLookOptions,
  ending: AbortSignal,
): Promise<boolean> {
  const { db, executors, pauseMs } = options;
  const keysOf = (which: (descriptor: ExecutorDescriptor) => boolean): readonly string[] =>
    executors.list().flatMap((each) => (which(each) ? [each.executor_key] : []));
  const taken = await takeLateLooks(db, {
    called: keysOf(({ executor_key }) => executors.get(executor_key) !== undefined),
    // The chain shows what was signed for a team's executor, whoever can call that.
    followed: keysOf(({ kind }) => kind !== 'local'),
    pauseSeconds: pauseMs / 1_000,
    limit: MOST,
  });
  throwFirst(await settleEach(taken, AT_ONCE, (node) => look(options, node, ending)));
  return taken.length === MOST;
}

async function look(
  options: LateLookOptions,
  { movement_id, node_key }: NodeRef,
  ending: AbortSignal,
): Promise<void> {
  const { db, log, pauseMs } = options;
  const row = await readPhase(db, movement_id, node_key);
  if (row === null) return;
  const about = { movement_id, node_key };
  const note = (outcome: LateLookOutcome): Promise<void> =>
    noteLateLook(db, row, outcome, pauseMs / 1_000);
  try {
    const answer = await answerAbout(options, row, ending);
    if (answer === null) return;
    if (!isLanding(answer)) {
      const { next_state, error_code } = answer;
      // As once the venue's history is too old: it may have landed, and no look would see it.
      const isOpen = next_state === 'UNKNOWN';
      if (isOpen) log.warn({ ...about, error_code }, 'a look for an abandoned send proves nothing');
      return await note(isOpen ? 'open' : 'answered');
    }
    const doubt = await doubtOf(db, row, answer);
    if (doubt !== null) {
      // A landing that is noted too early would end the search.
      log.warn({ ...about, doubt }, 'a late landing is reported and not proven; looked for again');
      return await note('unsettled');
    }
    log.error(about, 'the send of an abandoned node landed');
    await applyTransition(db, landedLate(row, answer));
  } catch (error) {
    // A stop of this process ends its looks, which shows nothing about the executor.
    // No look sees more until the entry is put back, which may never be.
    const isUnseen = error instanceof ExecutorFault && error.code === VENUE_ENTRY_CHANGED;
    if (!ending.aborted) await note(isUnseen ? 'open' : 'unsettled');
    // Proves nothing, and the next look is planned.
    log.warn({ ...about, err: error }, 'a look for an abandoned send got no answer');
    if (!(error instanceof ExecutorFault)) throw error;
  }
}

/**
 * Returns what the chain shows of a payment that was signed for a team's executor. That executor is
 * not called: its answer could change nothing about the payment. Without such a payment, returns
 * what the executor reports; null if this process cannot call it.
 */
async function answerAbout(
  options: LateLookOptions,
  row: PhaseRow,
  ending: AbortSignal,
): Promise<ExecutionResult | null> {
  const { db, executors } = options;
  const { sign_request: request } = row;
  const context = await contextOf(options, row, amountOf(row) ?? '0', 'look');
  if (request !== null && isFollowed(options, row)) {
    const signed = { request, phase: 'recover', journal: readingJournal(db, row) } as const;
    return lookAtChain(options, { row, context }, signed, limited(ending, CHAIN_SECONDS));
  }
  const executor = executors.get(row.node.executor_binding.executor_key);
  return executor === undefined ? null : callExecutor(db, { row, context, executor }, ending);
}

/** Returns what recover reports of the send; of one that is under way, what observe reports. */
async function callExecutor(
  db: Database,
  of: {
    readonly row: PhaseRow;
    readonly context: ExecutionContext;
    readonly executor: Executor;
  },
  ending: AbortSignal,
): Promise<ExecutionResult> {
  const { row, context, executor } = of;
  const call = limited(ending, executor.descriptor.timeout_seconds);
  const journal = readingJournal(db, row);
  const found = await executor.recover(context, call, journal);
  const { external_ref, output } = found;
  if (found.next_state !== 'SUBMITTED' && found.next_state !== 'OBSERVING') return found;
  const prior = {
    ...context.prior,
    ...(external_ref === undefined ? {} : { external_ref }),
    ...(output === undefined ? {} : { output }),
  };
  return executor.observe({ ...context, prior }, call, journal);
}

function limited(ending: AbortSignal, seconds: number): CallOptions {
  const signal = AbortSignal.any([ending, AbortSignal.timeout(seconds * 1_000)]);
  return { signal, requestId: 'late-look' };
}

/**
 * Returns why the answer does not prove a landing; null if it does. A completion is held to what
 * the run would require of it.
 */
async function doubtOf(
  db: Database,
  row: PhaseRow,
  answer: ExecutionResult,
): Promise<string | null> {
  const claims = claimsWith(row, answer);
  if (answer.next_state === 'COMPLETED') {
    if (heldTo(assuranceOf(row), answer).next_state !== 'COMPLETED')
      return 'it shows a weaker assurance than the plan requires';
    if (claims.length === 0 && (await needsClaim(db, row, answer.output ?? row.output)))
      return 'it names no arrival that the node could claim';
  }
  for (const { source, reference } of claims) {
    const held = await readClaimed(db, { source, references: [reference] }, row);
    if (held.some(({ own }) => !own)) return 'its arrival has completed another node';
  }
  return null;
}
