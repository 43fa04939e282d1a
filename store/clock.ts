/** Reads the database's own clock. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/**
 * Returns the database's time in milliseconds since 1970, without the offset that tests add to
 * `svc_now()`.
 */
export async function readDatabaseClock(db: Database): Promise<number> {
  const [row] = await run(
    () => db.sql<{ ms: number }>`
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS ms`,
  );
  if (row === undefined) throw new Error('the database returned no time');
  return row.ms;
}
