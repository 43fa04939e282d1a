/** Removes commands and callbacks that are done with, once the days are over that they are kept. */
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { dropOldCallbacks, dropOldCommands } from '../../store/retention.ts';
import type { Leases } from './leases.ts';

const PAUSE_MS = 60_000;
/** So small that no statement of others waits for its locks or its log to be written. */
const BATCH = 1_000;
export const RETENTION_LEASE = 'retention';

const removed = new Counter({
  name: 'svc_retention_removed_total',
  help: 'Rows that were removed because the days were over that they are kept, by table.',
  labelNames: ['table'],
});

export interface RetentionDays {
  readonly commands: number;
  readonly callbacks: number;
}

/** Removes a batch of each at a time, without a pause while there is more. */
export function startRetention({
  db,
  log,
  leases,
  days,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly leases: Pick<Leases, 'under'>;
  readonly days: RetentionDays;
}): Loop {
  const drops = { commands: dropOldCommands, callbacks: dropOldCallbacks };
  const tables = Object.keys(drops) as (keyof RetentionDays)[];
  for (const table of tables) removed.inc({ table }, 0);
  return startLoop({
    name: 'retention',
    pauseMs: PAUSE_MS,
    log,
    work: leases.under(RETENTION_LEASE, async () => {
      let isMore = false;
      for (const table of tables) {
        const rows = await drops[table](db, { keepDays: days[table], atMost: BATCH });
        if (rows === 0) continue;
        removed.inc({ table }, rows);
        log.info({ table, rows, kept_days: days[table] }, 'removed what is kept no longer');
        isMore ||= rows === BATCH;
      }
      return isMore;
    }),
  });
}
