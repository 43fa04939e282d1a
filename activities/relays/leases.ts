/**
 * Leases for loops that one process runs for all. If several ran a loop, the result would be the
 * same, but venues and Temporal would get more calls. When the holder dies or loses the database,
 * another process takes the lease once it has expired. One whose work fails again and again, as
 * without Temporal, returns the lease. A holder that is late does no harm: the database compares
 * what the loops write, or a second write changes nothing.
 */
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { SKIPPED, startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { returnLeases, takeLeases } from '../../store/leases.ts';

/** Seconds that a lease lasts. */
const SECONDS = 15;
const RENEW_MS = 5_000;
/** Failed turns in a row after which a lease is returned: another process may do the work. */
const MOST_FAILED = 2;
/** Milliseconds for which a process leaves a lease that it returned to others. */
const REST_MS = 15_000;

const held = new Gauge({
  name: 'svc_lease_held',
  help: 'Whether this process holds the lease of a loop that one process runs for all.',
  labelNames: ['lease'],
});

export interface Leases {
  /**
   * Wraps `work`: the returned function does nothing, and returns {@link SKIPPED}, while another
   * process holds the lease. The lease is returned when each work under it has failed twice in a
   * row.
   */
  under<T>(lease: string, work: () => Promise<T>): () => Promise<T | typeof SKIPPED>;
  readonly loop: Loop;
}

/** Starts to take and renew the leases. `holder` must identify this process only. */
export function startLeases(options: {
  readonly db: Database;
  readonly log: Logger;
  readonly holder: string;
  readonly names: readonly string[];
  readonly renewMs?: number;
  readonly seconds?: number;
  /** Milliseconds of a clock that never goes back; absent: `performance.now`. */
  readonly now?: () => number;
}): Leases {
  const { db, log, holder, names, renewMs = RENEW_MS, seconds = SECONDS } = options;
  const { now = () => performance.now() } = options;
  const until = new Map<string, number>();
  const restsUntil = new Map<string, number>();
  const rests = (name: string): boolean => now() < (restsUntil.get(name) ?? -Infinity);
  const holds = (name: string): boolean => !rests(name) && now() < (until.get(name) ?? -Infinity);
  /** Failed turns in a row of each work under a lease. */
  const works = new Map<string, { failed: number }[]>();
  let looked: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (looked = resolve));
  const loop = startLoop({
    name: 'leases',
    pauseMs: renewMs,
    log,
    work: async () => {
      try {
        const resting = names.filter(rests);
        // Each time, since an earlier try may have failed.
        if (resting.length > 0) await returnLeases(db, { names: resting, holder });
        const wanted = names.filter((name) => !resting.includes(name));
        // The time is taken before the query, so that the lease ends here no later than in the
        // database.
        const end = now() + seconds * 1_000;
        const taken = new Set(await takeLeases(db, { names: wanted, holder, seconds }));
        for (const name of names) {
          const had = holds(name);
          if (taken.has(name)) until.set(name, end);
          else until.delete(name);
          if (had !== taken.has(name))
            log.info({ lease: name, held: !had }, 'a lease changed hands');
        }
      } finally {
        for (const name of names) held.set({ lease: name }, holds(name) ? 1 : 0);
        looked();
      }
    },
  });
  const noteFailure = (lease: string, each: { failed: number }): void => {
    each.failed += 1;
    const all = works.get(lease) ?? [];
    // A venue whose balances cannot be read keeps the lease of the other venues where it is.
    if (!all.every(({ failed }) => failed >= MOST_FAILED)) return;
    for (const one of all) one.failed = 0;
    restsUntil.set(lease, now() + REST_MS);
    log.warn({ lease }, 'a lease is returned, because its work failed');
    loop.poke();
  };
  return {
    under: (lease, work) => {
      const each = { failed: 0 };
      works.set(lease, [...(works.get(lease) ?? []), each]);
      return async () => {
        // Waits for the first try to take the leases; otherwise a loop with a long pause would skip
        // its first turn.
        await first;
        if (!holds(lease)) {
          each.failed = 0;
          return SKIPPED;
        }
        try {
          const done = await work();
          each.failed = 0;
          return done;
        } catch (error) {
          noteFailure(lease, each);
          throw error;
        }
      };
    },
    loop: {
      poke: () => loop.poke(),
      stop: async () => {
        await loop.stop();
        until.clear();
        // If the database is unavailable, the leases expire by themselves.
        await returnLeases(db, { names, holder }).catch(() => undefined);
      },
    },
  };
}
