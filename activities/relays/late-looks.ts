/**
 * Looks for the sends of abandoned nodes. A landing is noted, which brings the movement into
 * attention; nothing is sent, signed or decided from here.
 */
import type { Logger } from 'pino';
import { landedLate } from '../../domain/commands/landed-late.ts';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
} from '../../domain/executor.ts';
import type { NodeRef } from '../../domain/transition.ts';
import { settleEach, throwFirst } from '../../platform/at-once.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { readClaimed } from '../../store/claims.ts';
import { takeLateLooks } from '../../store/late-looks.ts';
import { readPhase, type PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { amountOf } from '../phases/amount.ts';
import { claimsWith } from '../phases/claims.ts';
import { contextOf } from '../phases/context.ts';
import { readingJournal } from '../phases/journal.ts';
import type { RequirementSources } from '../requirements/requirement.ts';

const MOST = 50;
/** Calls of executors that are under way at the same time. */
const AT_ONCE = 4;

export interface LateLookOptions extends RequirementSources {
  readonly log: Logger;
  /** `get` returns those that this process can call; no others are called. */
  readonly executors: {
    list(): readonly ExecutorDescriptor[];
    get(key: string): Executor | undefined;
  };
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
  const callable = executors
    .list()
    .map(({ executor_key }) => executor_key)
    .filter((key) => executors.get(key) !== undefined);
  const taken = await takeLateLooks(db, {
    executors: callable,
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
  const { db, log, executors } = options;
  const row = await readPhase(db, movement_id, node_key);
  const executor = row === null ? undefined : executors.get(row.node.executor_binding.executor_key);
  if (row === null || executor === undefined) return;
  const limit = AbortSignal.timeout(executor.descriptor.timeout_seconds * 1_000);
  const call = { signal: AbortSignal.any([ending, limit]), requestId: 'late-look' };
  try {
    const answer = await askExecutor(options, { row, executor }, call);
    if (answer.next_state !== 'COMPLETED' || (await isOthers(db, row, answer))) return;
    log.error({ movement_id, node_key }, 'the send of an abandoned node landed');
    await applyTransition(db, landedLate(row, answer));
  } catch (error) {
    // A look without an answer proves nothing, and the next one is planned.
    if (!(error instanceof ExecutorFault)) throw error;
  }
}

/** Returns what recover reports of the send; of one that is under way, what observe reports. */
async function askExecutor(
  options: RequirementSources,
  { row, executor }: { readonly row: PhaseRow; readonly executor: Executor },
  call: CallOptions,
): Promise<ExecutionResult> {
  const journal = readingJournal(options.db, row);
  const context = await contextOf(options, row, amountOf(row) ?? '0', 'look');
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

/** Returns whether the payment that was found has completed another node. */
async function isOthers(db: Database, row: PhaseRow, answer: ExecutionResult): Promise<boolean> {
  for (const { source, reference } of claimsWith(row, answer)) {
    const held = await readClaimed(db, { source, references: [reference] }, row);
    if (held.some(({ own }) => !own)) return true;
  }
  return false;
}
