/** Signals runs to leave their builds, each run once although a caller repeats its rounds. */
import { nameOfBuild, type Build, type LeaveBuild } from '../domain/builds.ts';
import { settleEach } from './at-once.ts';
import type { Builds, RunId } from './temporal-builds.ts';

/**
 * Most runs of a build that one round signals. Each of them loads its movement again on another
 * build, so more would delay the runs that are at work.
 */
const BATCH = 1_000;
/** Signals that are under way at the same time. */
const AT_ONCE = 8;
/**
 * Milliseconds until a run is signalled again. Temporal keeps a signal, and a run leaves as soon as
 * it can. More signals only lengthen the history of one that cannot go on, and after 10,000 of them
 * Temporal refuses every signal to it, also that of a command.
 */
const AGAIN_MS = 3_600_000;

/** Signals of one round. */
export interface Signalled {
  readonly signalled: number;
  /** Those of them that failed; the next round repeats them. */
  readonly failed: number;
}

/** Returns a function that signals a batch of the runs on a build that it has not signalled yet. */
export function createLeaver(
  calls: Pick<Builds, 'listOpen' | 'leave'>,
): (order: LeaveBuild) => Promise<Signalled> {
  const before = new Map<string, { readonly runId: string; readonly until: number }>();
  return async (order) => {
    const now = performance.now();
    for (const [key, { until }] of before) if (until <= now) before.delete(key);
    const keyOf = ({ workflowId }: RunId): string => `${nameOfBuild(order)} ${workflowId}`;
    // Runs that cannot leave stay in the list, and must not hide those behind them.
    const open = await calls.listOpen(order, BATCH + before.size);
    const due = open.filter((run) => before.get(keyOf(run))?.runId !== run.runId).slice(0, BATCH);
    const outcomes = await settleEach(due, AT_ONCE, async (run) => {
      const key = keyOf(run);
      // An earlier run of the workflow left, and the next one is on the same build again, perhaps
      // pinned there by hand. Only a run that the relay starts goes to the current build.
      const by = before.has(key) ? 'restart' : order.by;
      await calls.leave(run, { ...order, by });
      before.set(key, { runId: run.runId, until: now + AGAIN_MS });
    });
    const failed = outcomes.filter(({ status }) => status === 'rejected').length;
    return { signalled: due.length, failed };
  };
}

/**
 * Returns the first of `takers` (the builds on which new runs start; null: workers without a build)
 * that has no worker that polls; undefined when each has one. Runs that leave may go to any of
 * them, and would stand still there.
 */
export async function takerWithoutWorker(
  calls: Pick<Builds, 'hasWorker'>,
  takers: readonly (Build | null)[],
): Promise<Build | null | undefined> {
  for (const taker of takers)
    if (!(await calls.hasWorker(taker?.deployment ?? '', taker?.build ?? null))) return taker;
  return undefined;
}
