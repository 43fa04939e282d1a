/** Repeats a write while the database is away, so that this process's knowledge is not lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, type ErrorCode } from '../domain/errors.ts';

/** Longer than a failover; the activity of a send may take five minutes, its call included. */
const LONGEST_MS = 90_000;
const PAUSE_MS = 500;

const AWAY: readonly ErrorCode[] = ['dependency_unavailable', 'outcome_unknown', 'overloaded'];

/** Runs work that may run twice, again and again while the database is away. */
export async function whileAway<T>(work: () => Promise<T>): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof ServiceError && AWAY.includes(error.code);
      if (!isAway || performance.now() - since > LONGEST_MS) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
