/** Waiting for what comes true by itself. */
import { setTimeout as sleep } from 'node:timers/promises';

/** A condition that can no longer come true. */
export class Stop extends Error {}

/** Asks until the answer is not null. Errors of `ask` count as "not yet", save for {@link Stop}. */
export async function eventually<T>(
  ask: () => Promise<T | null>,
  options: { timeoutMs?: number; everyMs?: number; what?: () => string } = {},
): Promise<T> {
  const { timeoutMs = 30_000, everyMs = 50, what = () => 'something' } = options;
  let last: unknown;
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(everyMs)) {
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
