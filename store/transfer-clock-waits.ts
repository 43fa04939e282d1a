/**
 * Which capital transfers are not sent because clocks differ, and since when. A row counts while a
 * worker goes on seeing the wait; `apply_transfer_step` removes it.
 */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/** How long a transfer waits until a person is shown why, as for a node in attention.sql. */
export const CLOCK_WAIT_SHOWN_AFTER = '10 minutes';

/** How long a row counts after a worker has last seen the wait; it looks every few seconds. */
export const CLOCK_WAIT_COUNTS_FOR = '5 minutes';

/**
 * Notes that an open transfer is not sent now, and why. Writes at most once a minute. A wait that
 * no worker saw for a while begins anew.
 */
export async function noteClockWait(db: Database, transferId: string, why: string): Promise<void> {
  await run(
    () => db.sql`
      INSERT INTO transfer_clock_waits AS w (transfer_id, why, since, last_seen)
      SELECT transfer_id, left(${why}, 1000), at, at
      FROM capital_transfers CROSS JOIN (SELECT svc_now() AS at OFFSET 0) clock
      WHERE transfer_id = ${transferId}::uuid AND ended_at IS NULL
      ON CONFLICT (transfer_id) DO UPDATE SET why = excluded.why, last_seen = excluded.last_seen,
        since = CASE WHEN w.last_seen > excluded.last_seen - ${CLOCK_WAIT_COUNTS_FOR}::interval
          THEN w.since ELSE excluded.since END
        WHERE w.last_seen <= excluded.last_seen - interval '1 minute'`,
  );
}

/**
 * Returns why these transfers are not sent, of those that have waited long enough for a person to
 * be shown it; leaves out the others, and ended ones.
 */
export async function readClockWaits(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await run(
    () => db.sql<{ readonly transfer_id: string; readonly why: string }>`
      SELECT w.transfer_id::text, w.why
      FROM transfer_clock_waits w JOIN capital_transfers t USING (transfer_id)
      WHERE w.transfer_id = ANY (${`{${ids.join(',')}}`}::uuid[]) AND t.ended_at IS NULL
        AND w.since <= (SELECT svc_now()) - ${CLOCK_WAIT_SHOWN_AFTER}::interval
        AND w.last_seen > (SELECT svc_now()) - ${CLOCK_WAIT_COUNTS_FOR}::interval`,
  );
  return new Map(rows.map(({ transfer_id, why }) => [transfer_id, why]));
}
