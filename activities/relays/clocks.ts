/**
 * Measures how far the clocks of the database and of venues are from this host. A clock that tests
 * set (svc.clock_offset_ms) is not measured: the database's own is read.
 */
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import {
  counts,
  DATABASE_CLOCK,
  MOST_APART_MS,
  type Differences,
  type VenueClock,
} from '../../domain/send/clocks.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import { within } from '../../platform/time-limit.ts';
import type { Database } from '../../prisma/client.ts';
import { readDatabaseClock } from '../../store/clock.ts';

/** How long a clock may take to answer; half of it is the most that a difference is wrong by. */
const ANSWER_LIMIT_MS = 5_000;

const differences = new Gauge({
  name: 'svc_clock_difference_seconds',
  help: 'How far a clock is ahead of this host (negative: behind); absent for one that cannot be read.',
  labelNames: ['clock'],
});

export interface Clocks {
  /** As last measured, of clocks that stop sends by theirs; empty before that. */
  readonly differences: Differences;
  /** Those that could not be read when they were last asked. */
  unread(): readonly string[];
  /** Reads every clock; one that does not answer is as if it were not there. */
  measure(): Promise<void>;
  start(pauseMs: number): Loop;
}

/** The database's clock and these of venues, by their names. */
export function createClocks(options: {
  readonly db: Database;
  readonly log: Logger;
  readonly venues: Readonly<Record<string, VenueClock>>;
}): Clocks {
  const { db, log, venues } = options;
  const measured = new Map<string, number>();
  const silent = new Set<string>();
  const asked: readonly (readonly [string, VenueClock])[] = [
    [DATABASE_CLOCK, { read: () => readDatabaseClock(db), counts: 'either' }],
    ...Object.entries(venues),
  ];
  const measureOne = async (clock: string, { read, counts: which }: VenueClock): Promise<void> => {
    const limit = new AbortController();
    const before = Date.now();
    try {
      const told = await within(read(limit.signal), ANSWER_LIMIT_MS);
      const difference = told - (before + Date.now()) / 2;
      if (counts(which, difference)) measured.set(clock, difference);
      else measured.delete(clock);
      silent.delete(clock);
      differences.set({ clock }, difference / 1_000);
    } catch (error) {
      // No answer is no proof that a clock known to be wrong agrees again.
      if (Math.abs(measured.get(clock) ?? 0) <= MOST_APART_MS) measured.delete(clock);
      silent.add(clock);
      differences.remove({ clock });
      log.warn({ clock, err: error }, 'a clock cannot be read');
    } finally {
      limit.abort();
    }
  };
  const measure = async (): Promise<void> => {
    await Promise.all(asked.map(([clock, venue]) => measureOne(clock, venue)));
  };
  return {
    differences: measured,
    unread: () => [...silent].sort(),
    measure,
    start: (pauseMs) => startLoop({ name: 'clocks', pauseMs, log, work: measure }),
  };
}
