/** Revives movements whose run is gone. */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { settleEach } from '../../platform/at-once.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Temporal } from '../../platform/temporal.ts';
import type { Database } from '../../prisma/client.ts';
import {
  claimIdle,
  listWaiting,
  returnWaitingTurn,
  takeWaitingTurn,
  type Swept,
  type WaitingPlace,
} from '../../store/sweeps.ts';

const BATCH = 500;
/** So many are asked about one by one: that is always true, and for few no dearer than the list. */
const FEW = 50;
/** Of those that the list shows running, one in so many is asked about, and `FEW` or so at most. */
const SAMPLE = 20;
/** Questions to Temporal that are under way at a time. */
const AT_ONCE = 4;
/** How often those are looked for that wait for their approval, in idle times. */
const REST = 40;
/** The same after a look that failed. */
const AGAIN = 4;

export interface SweeperOptions {
  readonly db: Database;
  readonly temporal: Pick<Temporal, 'wake' | 'isRunning' | 'listRunning'>;
  readonly log: Logger;
  readonly sweepIdleSeconds: number;
  /** Whether the next one is of a sample of one in so many. */
  readonly isOfSample?: (oneIn: number) => boolean;
}

/** Compares open movements without progress with the server's own view. */
export function startSweeper(options: SweeperOptions): Loop {
  const { db, log, sweepIdleSeconds: idleSeconds } = options;
  return startLoop({
    name: 'sweeper',
    pauseMs: Math.max(250, (idleSeconds * 1000) / 4),
    log,
    work: async () => {
      const idle = await claimIdle(db, { idleSeconds, limit: BATCH });
      const running = idle.length > FEW ? await readRunning(options) : NOTHING;
      await reviveMissing(options, idle, running);
      return idle.length === BATCH;
    },
  });
}

/**
 * The same for movements that wait for their approval, which may be very many and need a run for
 * little: all of them at once, by one process at a time, and seldom. Shortly before its approval is
 * over each is the other sweeper's.
 */
export function startWaitingSweeper(options: SweeperOptions): Loop {
  const { db, log, sweepIdleSeconds: idleSeconds } = options;
  return startLoop({
    name: 'sweeper of those that wait',
    pauseMs: idleSeconds * 1000,
    log,
    work: async () => {
      const turn = await takeWaitingTurn(db, idleSeconds * REST);
      if (turn === null) return;
      try {
        await sweepWaiting(options);
      } catch (error) {
        await returnWaitingTurn(db, turn, idleSeconds * AGAIN);
        throw error;
      }
    },
  });
}

async function sweepWaiting(options: SweeperOptions): Promise<void> {
  const { db, sweepIdleSeconds: idleSeconds } = options;
  let running: ReadonlySet<string> | null = null;
  let place: WaitingPlace | null = null;
  do {
    const page = await listWaiting(db, place, { idleSeconds, limit: BATCH });
    const { movements } = page;
    if (place === null && movements.length <= FEW) running = NOTHING;
    running ??= await readRunning(options);
    await reviveMissing(options, movements, running);
    place = page.next;
  } while (place !== null);
}

const NOTHING: ReadonlySet<string> = new Set();

async function readRunning({ temporal }: SweeperOptions): Promise<ReadonlySet<string>> {
  const running = new Set<string>();
  for await (const page of temporal.listRunning()) for (const id of page) running.add(id);
  return running;
}

/**
 * Only a missing run is a reason to wake. The server's list is cheap, and behind the truth: what it
 * does not show is asked about by its id, and what it shows running is looked at again the next
 * time; some of these are asked about all the same, lest a list that is wrong for good hide a run
 * that is gone. Throws what went wrong first, once all were looked at.
 */
async function reviveMissing(
  { temporal, log, isOfSample = (oneIn) => randomInt(oneIn) === 0 }: SweeperOptions,
  swept: readonly Swept[],
  running: ReadonlySet<string>,
): Promise<void> {
  const oneIn = Math.max(SAMPLE, Math.ceil(running.size / FEW));
  const doubtful = swept.filter(
    ({ movement_id }) => !running.has(movement_id) || isOfSample(oneIn),
  );
  const outcomes = await settleEach(doubtful, AT_ONCE, async (about) => {
    const { movement_id: movementId } = about;
    if (await temporal.isRunning({ movementId })) return;
    log.warn({ movement_id: movementId }, 'the run of an open movement is gone; it is begun again');
    await temporal.wake({ movementId, kind: 'wake', commandId: null, about });
  });
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
