/**
 * Measures the differences between the clocks of the database and of venues and this host's clock.
 * Reads the database's own clock, without the offset that tests set (svc.clock_offset_ms). Also
 * notices when the clock by which the database decides was set back.
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
import { noteClock, readDatabaseClock } from '../../store/clock.ts';

/** Time limit in ms for reading a clock. A measured difference is wrong by at most half of it. */
const ANSWER_LIMIT_MS = 5_000;

const differences = new Gauge({
  name: 'svc_clock_difference_seconds',
  help: 'How far a clock is ahead of this host (negative: behind), 0 for a difference that stops nothing; absent if nothing is known.',
  labelNames: ['clock'],
});

export interface Clocks {
  /**
   * The last measured differences; a large one keeps sends back. Empty before the first
   * measurement.
   */
  readonly differences: Differences;
  /** Returns the clocks whose last reading failed. */
  unread(): readonly string[];
  /** Reads every clock; a clock that does not answer counts as absent. */
  measure(): Promise<void>;
  /** Starts to measure, and to end what waits for the time of a clock that was set back. */
  start(pauseMs: number): Loop;
}

/** Creates the measurement of the clocks of the database and of these venues. */
export function createClocks(options: {
  readonly db: Database;
  readonly log: Logger;
  readonly venues: Readonly<Record<string, VenueClock>>;
}): Clocks {
  const { db, log, venues } = options;
  const measured = new Map<string, number>();
  const silent = new Set<string>();
  const clocks: readonly (readonly [string, VenueClock])[] = [
    [DATABASE_CLOCK, { read: () => readDatabaseClock(db), counts: 'either' }],
    ...Object.entries(venues),
  ];
  const measureOne = async (clock: string, { read, counts: which }: VenueClock): Promise<void> => {
    const limit = new AbortController();
    const before = Date.now();
    try {
      const time = await within(read(limit.signal), ANSWER_LIMIT_MS);
      const difference = time - (before + Date.now()) / 2;
      const stops = counts(which, difference);
      if (stops) measured.set(clock, difference);
      else measured.delete(clock);
      silent.delete(clock);
      differences.set({ clock }, stops ? difference / 1_000 : 0);
    } catch (error) {
      // A large difference is kept, and shown: a clock that was wrong and does not answer now still
      // counts as wrong.
      if (Math.abs(measured.get(clock) ?? 0) <= MOST_APART_MS) {
        measured.delete(clock);
        differences.remove({ clock });
      }
      silent.add(clock);
      log.warn({ clock, err: error }, 'a clock cannot be read');
    } finally {
      limit.abort();
    }
  };
  const measure = async (): Promise<void> => {
    await Promise.all(clocks.map(([clock, venue]) => measureOne(clock, venue)));
  };
  const turn = async (): Promise<void> => {
    await measure();
    const back = await noteClock(db);
    if (back !== null)
      log.error(
        back,
        'the clock of the database was set back: what rested until a later time is due',
      );
  };
  return {
    differences: measured,
    unread: () => [...silent].sort(),
    measure,
    start: (pauseMs) => startLoop({ name: 'clocks', pauseMs, log, work: turn }),
  };
}
