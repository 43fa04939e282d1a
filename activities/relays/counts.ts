/** Adds recorded changes of counts to the stored counts, so that reading a count reads few rows. */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { foldCounts } from '../../store/counts.ts';

const PAUSE_MS = 5_000;
const BATCH = 10_000;

/** Starts the loop. Any number of processes may run it: the database lets one add at a time. */
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
