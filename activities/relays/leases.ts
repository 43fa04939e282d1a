/**
 * Leases for loops that one process runs for all. If several ran a loop, the result would be the
 * same, but venues and Temporal would get more calls. When the holder dies or loses the database,
 * another process takes the lease once it has expired. A holder that is late does no harm: the
 * database compares what the loops write, or a second write changes nothing.
 */
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { returnLeases, takeLeases } from '../../store/leases.ts';

/** Seconds that a lease lasts. */
const SECONDS = 15;
const RENEW_MS = 5_000;

const held = new Gauge({
  name: 'svc_lease_held',
  help: 'Whether this process holds the lease of a loop that one process runs for all.',
  labelNames: ['lease'],
});

export interface Leases {
  /** Wraps `work`: the returned function does nothing while another process holds the lease. */
  under<T>(lease: string, work: () => Promise<T>): () => Promise<T | undefined>;
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
}): Leases {
  const { db, log, holder, names, renewMs = RENEW_MS, seconds = SECONDS } = options;
  const until = new Map<string, number>();
  const holds = (name: string): boolean => performance.now() < (until.get(name) ?? -Infinity);
  let looked: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (looked = resolve));
  const loop = startLoop({
    name: 'leases',
    pauseMs: renewMs,
    log,
    work: async () => {
      try {
        // The time is taken before the query, so that the lease ends here no later than in the
        // database.
        const end = performance.now() + seconds * 1_000;
        const taken = new Set(await takeLeases(db, { names, holder, seconds }));
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
  return {
    under: (lease, work) => async () => {
      // Waits for the first try to take the leases; otherwise a loop with a long pause would skip
      // its first turn.
      await first;
      return holds(lease) ? work() : undefined;
    },
    loop: {
      poke: () => loop.poke(),
      stop: async () => {
        await loop.stop();
        until.clear();
        // If the database is unavailable, the leases expire by themselves.
        await returnLeases(db, holder).catch(() => undefined);
      },
    },
  };
}
