/** Repeats a write while the database is unavailable, so that its result is not lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, type ErrorCode } from '../domain/errors.ts';

/**
 * Longest time of the repeats: longer than a database failover. The activity of a send has five
 * minutes, its outside call included.
 */
const LONGEST_MS = 90_000;
const PAUSE_MS = 500;

const AWAY: readonly ErrorCode[] = ['dependency_unavailable', 'outcome_unknown', 'overloaded'];

/** Returns whether the error says that the database is unavailable. */
export function isAway(error: unknown): boolean {
  return error instanceof ServiceError && AWAY.includes(error.code);
}

/** Repeats `work` while the database is unavailable; `work` must be safe to run twice. */
export async function whileAway<T>(work: () => Promise<T>): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error) || performance.now() - since > LONGEST_MS) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
