/**
 * Removes finished commands, callbacks and console sessions after their retention days, and console
 * events after an hour.
 */
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { settleEach, throwFirst } from '../../platform/at-once.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { removeConsoleEvents } from '../../store/console-events.ts';
import { dropOldSessions } from '../../store/dashboard-sessions.ts';
import { dropOldCallbacks, dropOldCommands } from '../../store/retention.ts';
import type { Leases } from './leases.ts';

const PAUSE_MS = 60_000;
/** Rows of one batch: few, so that other statements do not wait for its locks or its log writes. */
const BATCH = 1_000;
export const RETENTION_LEASE = 'retention';
/**
 * Seconds that console events are kept; a console that was disconnected longer reads everything
 * again.
 */
const CONSOLE_EVENTS_SECONDS = 3_600;

/** Days that a console session is kept (it ends within a day); the audit keeps who had one. */
const SESSION_DAYS = 30;

const removed = new Counter({
  name: 'svc_retention_removed_total',
  help: 'Rows that were removed after their retention time, by table.',
  labelNames: ['table'],
});

export interface RetentionDays {
  readonly commands: number;
  readonly callbacks: number;
}

/**
 * Starts the loop. A turn removes one batch per table; while there is more, the next turn follows
 * without a pause.
 */
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
  const drops = {
    commands: { drop: dropOldCommands, keepDays: days.commands },
    callbacks: { drop: dropOldCallbacks, keepDays: days.callbacks },
    dashboard_sessions: { drop: dropOldSessions, keepDays: SESSION_DAYS },
  };
  const tables = Object.keys(drops) as (keyof typeof drops)[];
  for (const table of [...tables, 'console_events']) removed.inc({ table }, 0);
  const dropRows = async (table: keyof typeof drops): Promise<number> => {
    const { drop, keepDays } = drops[table];
    const rows = await drop(db, { keepDays, atMost: BATCH });
    if (rows > 0) log.info({ table, rows, kept_days: keepDays }, 'removed what is kept no longer');
    removed.inc({ table }, rows);
    return rows;
  };
  const dropEvents = async (): Promise<number> => {
    const atMost = BATCH;
    const events = await removeConsoleEvents(db, { keepSeconds: CONSOLE_EVENTS_SECONDS, atMost });
    removed.inc({ table: 'console_events' }, events);
    return events;
  };
  const parts = [...tables.map((table) => () => dropRows(table)), dropEvents];
  return startLoop({
    name: 'retention',
    pauseMs: PAUSE_MS,
    log,
    work: leases.under(RETENTION_LEASE, async () => {
      // A fault in one table does not stop those behind it.
      const outcomes = await settleEach(parts, 1, (part) => part());
      throwFirst(outcomes);
      return outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value === BATCH);
    }),
  });
}
