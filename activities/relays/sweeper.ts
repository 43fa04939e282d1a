/** Wakes movements that stand still, and restarts those whose Temporal run is missing. */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { settleEach, throwFirst } from '../../platform/at-once.ts';
import { SKIPPED, startLoop, type Loop } from '../../platform/loop.ts';
import type { Temporal } from '../../platform/temporal.ts';
import { continueTrace } from '../../platform/tracing.ts';
import type { Database } from '../../prisma/client.ts';
import {
  claimIdle,
  countOpen,
  listUnwoken,
  listWaiting,
  noteSwept,
  readTraceParent,
  returnWaitingTurn,
  takeWaitingTurn,
  type Swept,
  type WaitingPlace,
} from '../../store/sweeps.ts';

const BATCH = 500;
/**
 * Up to this many runs are checked one by one, which is exact and costs no more than Temporal's
 * list.
 */
const FEW = 50;
/** Of the runs in Temporal's list, one in this many is also checked by id. */
const SAMPLE = 20;
/** Calls of Temporal that are under way at the same time. */
const AT_ONCE = 4;
/** Pause between sweeps of movements that wait for approval, in units of `sweepIdleSeconds`. */
const REST = 40;
/** Pause after a sweep that failed, in units of `sweepIdleSeconds`. */
const AGAIN = 4;
/**
 * One in this many turns over movements that wait for approval compares all of them; the others
 * first compare two counts.
 */
export const WHOLE_TURNS = 6;

export interface SweeperOptions {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'wake' | 'isRunning' | 'listRunning' | 'countRunning'>;
  readonly log: Logger;
  readonly sweepIdleSeconds: number;
  /** Returns whether the next movement belongs to a random sample of one in `oneIn`. */
  readonly isOfSample?: (oneIn: number) => boolean;
}

/**
 * Compares open movements without progress with Temporal's runs, and starts missing runs again.
 * Wakes each once after its last command was read: a worker that was frozen, or died, may have read
 * it for no run.
 */
export function startSweeper(options: SweeperOptions): Loop {
  const { log, sweepIdleSeconds } = options;
  const last = { isUnseen: false };
  return startLoop({
    name: 'sweeper',
    pauseMs: Math.max(250, (sweepIdleSeconds * 1000) / 4),
    log,
    work: async () => {
      // What fails in one part does not stop the other.
      const outcomes = await settleEach([sweepIdle, wakeOnce], 1, (part) => part(options, last));
      throwFirst(outcomes);
      const found = outcomes.map((each) => each.status === 'fulfilled' && each.value);
      return found.includes(SKIPPED) ? SKIPPED : found.includes(true);
    },
  });
}

/**
 * Does the same for movements that wait for approval. They may be very many and hardly need a run,
 * so one process at a time checks all of them, and rarely. Most turns end when Temporal counts as
 * many runs as there are open movements: that misses only a missing run beside one too many, until
 * the next turn that compares all. {@link startSweeper} takes each movement shortly before its
 * approval expires.
 */
export function startWaitingSweeper(options: SweeperOptions): Loop {
  const { db, log, sweepIdleSeconds: idleSeconds } = options;
  // Temporal may have been set back before this process started.
  let mustCompareAll = true;
  return startLoop({
    name: 'sweeper of those that wait',
    pauseMs: idleSeconds * 1000,
    log,
    work: async () => {
      const turn = await takeWaitingTurn(db, idleSeconds * REST);
      if (turn === null) return SKIPPED;
      if (Number(turn.turn) % WHOLE_TURNS === 0) mustCompareAll = true;
      try {
        await sweepWaiting(options, mustCompareAll);
        mustCompareAll = false;
      } catch (error) {
        mustCompareAll = true;
        await returnWaitingTurn(db, turn, idleSeconds * AGAIN);
        throw error;
      }
    },
  });
}

/** `comparesAll`: compares all movements even when the counts are equal. */
async function sweepWaiting(options: SweeperOptions, comparesAll: boolean): Promise<void> {
  const { db, sweepIdleSeconds: idleSeconds } = options;
  let running: ReadonlySet<string> | null = null;
  let place: WaitingPlace | null = null;
  do {
    const page = await listWaiting(db, place, { idleSeconds, limit: BATCH });
    const { movements } = page;
    if (place === null) {
      if (movements.length <= FEW) running = NOTHING;
      else if (!comparesAll && (await isCountEqual(options))) return;
    }
    running ??= await readRunning(options);
    await reviveMissing(options, movements, running);
    place = page.next;
  } while (place !== null);
}

const NOTHING: ReadonlySet<string> = new Set();

async function isCountEqual({ db, temporal, log }: SweeperOptions): Promise<boolean> {
  const [open, running] = [await countOpen(db), await temporal.countRunning()];
  if (open !== running)
    log.info({ open, running }, 'the counts of open movements and of running runs differ');
  return open === running;
}

async function readRunning({ temporal }: SweeperOptions): Promise<ReadonlySet<string>> {
  const running = new Set<string>();
  for await (const page of temporal.listRunning()) for (const id of page) running.add(id);
  return running;
}

/**
 * Returns whether there may be more. `last.isUnseen`: of the last movements that were claimed, not
 * all could be looked up. They are claimed again only after a while, so a turn before that without
 * any does not show that they can be now.
 */
async function sweepIdle(
  options: SweeperOptions,
  last: { isUnseen: boolean },
): Promise<boolean | typeof SKIPPED> {
  const { db, sweepIdleSeconds: idleSeconds } = options;
  const idle = await claimIdle(db, { idleSeconds, limit: BATCH });
  if (idle.length === 0) return last.isUnseen ? SKIPPED : false;
  last.isUnseen = true;
  const running = idle.length > FEW ? await readRunning(options) : NOTHING;
  await reviveMissing(options, idle, running);
  last.isUnseen = false;
  return idle.length === BATCH;
}

/**
 * Wakes those of {@link listUnwoken}, few at a time, since each wake is work for its run. Returns
 * false: the others come after the pause.
 */
async function wakeOnce(options: SweeperOptions): Promise<boolean> {
  const { db, sweepIdleSeconds: idleSeconds } = options;
  const unwoken = await listUnwoken(db, { idleSeconds, limit: FEW });
  const outcomes = await settleEach(unwoken, AT_ONCE, async (each) => {
    if (!(await options.temporal.isRunning({ movementId: each.movement_id })))
      noteGone(options, each);
    await wake(options, each);
  });
  await noteSwept(
    db,
    unwoken.filter((_, index) => outcomes[index]?.status === 'fulfilled'),
  );
  throwFirst(outcomes);
  return false;
}

/**
 * Wakes only movements whose run is missing. Temporal's list is cheap but lags: runs that it does
 * not show are checked by id, and also a sample of those that it shows, so that a wrong list cannot
 * hide a missing run forever. Throws the first error after all were checked.
 */
async function reviveMissing(
  options: SweeperOptions,
  swept: readonly Swept[],
  running: ReadonlySet<string>,
): Promise<void> {
  const { temporal, isOfSample = (oneIn) => randomInt(oneIn) === 0 } = options;
  const oneIn = Math.max(SAMPLE, Math.ceil(running.size / FEW));
  const doubtful = swept.filter(
    ({ movement_id }) => !running.has(movement_id) || isOfSample(oneIn),
  );
  const outcomes = await settleEach(doubtful, AT_ONCE, async (each) => {
    const { movement_id: movementId } = each;
    if (await temporal.isRunning({ movementId })) return;
    noteGone(options, each);
    await wake(options, each);
  });
  throwFirst(outcomes);
}

function noteGone({ log }: SweeperOptions, { movement_id }: Swept): void {
  log.warn({ movement_id }, 'the run of an open movement is gone; it is started again');
}

/**
 * Sends a signal to look again, which starts the run where there is none, in the movement's trace.
 */
async function wake({ db, temporal }: SweeperOptions, about: Swept): Promise<void> {
  const { movement_id: movementId } = about;
  await continueTrace(await readTraceParent(db, movementId), () =>
    temporal.wake({ movementId, kind: 'wake', commandId: null, about }),
  );
}
