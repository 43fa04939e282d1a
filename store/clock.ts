/** Reads the database's own clock. */
import { aheadMs } from '../domain/send/clocks.ts';
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

/**
 * Returns the milliseconds by which the database's clock is ahead of this process's now; 0 when it
 * is behind, or less than a second ahead. A send is over only when it is over by both clocks, so
 * whoever judges it by the database's waits so much longer.
 */
export async function databaseAheadMs(db: Database): Promise<number> {
  const before = Date.now();
  return aheadMs(await readDatabaseClock(db), before);
}

/** A database clock that was set back, and how many times of each column were changed to now. */
export interface SetBack {
  readonly back_seconds: number;
  /** By `<table>.<column>`. */
  readonly cut: Readonly<Record<string, number>>;
}

/**
 * Notes how far the database's clock has come. If it has been set back since the last note of any
 * process, ends all rests, claims and leases from before that lie too far ahead, and returns what
 * was changed; null otherwise, and for all processes but one.
 */
export async function noteClock(db: Database): Promise<SetBack | null> {
  const [row] = await run(() => db.sql<{ back: SetBack | null }>`SELECT note_clock() AS back`);
  return row?.back ?? null;
}
