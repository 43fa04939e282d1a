/** Waiting for what comes true by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from './patience.mjs';

/** A condition that can no longer come true. */
export class Stop extends Error {}

/**
 * Milliseconds until the next look of a wait that has lasted so long. A look costs the API, the
 * database and the test some milliseconds each, so a long wait looks less often: it ends later by a
 * twentieth of itself at most.
 */
export const untilNextLook = (waitedMs: number): number =>
  Math.min(250, Math.max(50, waitedMs / 20));

/** Asks until the answer is not null. Errors of `ask` count as "not yet", save for {@link Stop}. */
export async function eventually<T>(
  ask: () => Promise<T | null>,
  options: { timeoutMs?: number; everyMs?: number; what?: () => string } = {},
): Promise<T> {
  const { timeoutMs = PATIENCE_MS, everyMs, what = () => 'something' } = options;
  let last: unknown;
  for (
    const start = Date.now();
    Date.now() < start + timeoutMs;
    await sleep(everyMs ?? untilNextLook(Date.now() - start))
  ) {
    try {
      const answer = await ask();
      if (answer !== null) return answer;
    } catch (error) {
      if (error instanceof Stop) throw error;
      last = error;
    }
  }
  throw new Error(`waited ${timeoutMs} ms in vain for ${what()}`, { cause: last });
}
