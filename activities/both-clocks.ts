/** Judges by two clocks whether a send that was not found is over. */
import type { AfterNotFound } from '../domain/send/not-found.ts';
import type { Database } from '../prisma/client.ts';
import { databaseAheadMs } from '../store/clock.ts';

/**
 * Longest wait in seconds because of this process's clock. That clock may be the wrong one, and
 * another process may look next.
 */
const LONGEST_WAIT_SECONDS = 60;

/**
 * Returns what follows from "not found". `judge` decides by the end of the send, or by the time
 * left until it, in milliseconds of the database's clock; null: no send can be under way. Before
 * something is sent or fails, it decides again by this process's clock: a database's clock that
 * stepped forward (after a failover) proves nothing.
 */
export async function byBothClocks(
  db: Database,
  end_ms: number | null,
  judge: (end_ms: number | null) => AfterNotFound,
): Promise<AfterNotFound> {
  const follows = judge(end_ms);
  if (end_ms === null || (follows.next !== 'send' && follows.next !== 'fail')) return follows;
  const again = judge(end_ms + (await databaseAheadMs(db)));
  return again.next === 'wait'
    ? { ...again, seconds: Math.min(again.seconds, LONGEST_WAIT_SECONDS) }
    : again;
}
