/** Adds up the count changes that state changes left, so that counting reads few rows. */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { foldCounts } from '../../store/counts.ts';

const PAUSE_MS = 5_000;
const BATCH = 10_000;

/** Any number of processes may run this: the database lets one at a time add. */
export function startCountFolder({
  db,
  log,
  pauseMs = PAUSE_MS,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly pauseMs?: number;
}): Loop {
  return startLoop({
    name: 'counts',
    pauseMs,
    log,
    work: async () => (await foldCounts(db, BATCH)) >= BATCH,
  });
}
