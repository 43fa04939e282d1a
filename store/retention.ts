/**
 * Removes old applied commands and delivered callbacks, which decide nothing. A call removes one
 * batch, found by an index, so that no statement waits long for it. The database refuses to remove
 * a row that is still pending.
 */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface Retention {
  readonly keepDays: number;
  readonly atMost: number;
}

/** Removes applied commands by their ids, which sort by time; returns their number. */
export async function dropOldCommands(
  db: Database,
  { keepDays, atMost }: Retention,
): Promise<number> {
  const rows = await run(
    () => db.sql<{ dropped: number }>`
      WITH old AS (
        SELECT ctid FROM commands
        WHERE command_id < (SELECT svc_new_id(svc_now() - make_interval(days => ${keepDays}::integer)))
          AND applied_at < (SELECT svc_now()) - make_interval(days => ${keepDays}::integer)
        ORDER BY command_id LIMIT ${atMost}::integer
      ), gone AS (DELETE FROM commands WHERE ctid = ANY (ARRAY(SELECT ctid FROM old)) RETURNING 1)
      SELECT count(*)::integer AS dropped FROM gone`,
  );
  return rows[0]?.dropped ?? 0;
}

/**
 * Removes delivered callbacks; dead letters stay until an operator handles them. Returns their
 * number.
 */
export async function dropOldCallbacks(
  db: Database,
  { keepDays, atMost }: Retention,
): Promise<number> {
  const rows = await run(
    () => db.sql<{ dropped: number }>`
      WITH old AS (
        SELECT ctid FROM callbacks
        WHERE status = 'delivered'
          AND created_at < (SELECT svc_now()) - make_interval(days => ${keepDays}::integer)
          -- An old callback that was delivered again recently is kept.
          AND updated_at < (SELECT svc_now()) - make_interval(days => ${keepDays}::integer)
        ORDER BY created_at, event_id LIMIT ${atMost}::integer FOR UPDATE SKIP LOCKED
      ), gone AS (DELETE FROM callbacks WHERE ctid = ANY (ARRAY(SELECT ctid FROM old)) RETURNING 1)
      SELECT count(*)::integer AS dropped FROM gone`,
  );
  return rows[0]?.dropped ?? 0;
}
