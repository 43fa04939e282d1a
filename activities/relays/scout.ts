/**
 * Reads from the database which work is due, and wakes the loops that do it. One small query
 * replaces a query of each loop: while nothing happens, it is nearly the worker's only query.
 */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { readDue, type Due } from '../../store/due.ts';

/** Milliseconds between queries: `busy` while work was due within BUSY_FOR_MS, else `quiet`. */
const PACE: Pace = { busy: 250, quiet: 500 };
const BUSY_FOR_MS = 10_000;

/**
 * Milliseconds between runs of a loop that the scout does not wake: finds work that the scout's
 * query cannot see.
 */
export const UNPOKED_MS = 5_000;

/** The loops, by the work that they do, and the shortest time between two wake-ups of each. */
export type Poked = Readonly<
  Record<keyof Due, { readonly loop: Pick<Loop, 'poke'>; readonly everyMs: number }>
>;

interface Pace {
  readonly busy: number;
  readonly quiet: number;
}

export function startScout({
  db,
  log,
  poked,
  pace = PACE,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly poked: Poked;
  readonly pace?: Pace;
}): Loop {
  const last = new Map<keyof Due, number>();
  let busyUntil = performance.now() + BUSY_FOR_MS;
  let nextAt = 0;
  return startLoop({
    name: 'scout',
    pauseMs: pace.busy,
    log,
    work: async () => {
      const now = performance.now();
      if (now < nextAt) return;
      const due = await readDue(db);
      for (const what of Object.keys(poked) as (keyof Due)[]) {
        if (!due[what]) continue;
        busyUntil = now + BUSY_FOR_MS;
        const { loop, everyMs } = poked[what];
        if (now - (last.get(what) ?? -Infinity) < everyMs) continue;
        last.set(what, now);
        loop.poke();
      }
      nextAt = now < busyUntil ? 0 : now + pace.quiet - pace.busy / 2;
    },
  });
}
