/**
 * Leases of loops that one process runs for all: several would change nothing, and multiply the
 * calls of venues and Temporal. When a holder dies or cannot reach the database, another follows
 * once its lease is over. A late holder does no harm: the database compares what the loops write,
 * or they may write it twice.
 */
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { returnLeases, takeLeases } from '../../store/leases.ts';

/** How long a lease lasts, and how often it is renewed. */
const SECONDS = 15;
const RENEW_MS = 5_000;

const held = new Gauge({
  name: 'svc_lease_held',
  help: 'Whether this process does what one worker does for all.',
  labelNames: ['lease'],
});

export interface Leases {
  /** `work`, or nothing while another process holds the lease. */
  under<T>(lease: string, work: () => Promise<T>): () => Promise<T | undefined>;
  readonly loop: Loop;
}

/** `holder` names this process and no other. */
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
        // Counted from before the query, so the lease never seems longer than in the database.
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
      // Else a rare loop would wait another whole pause after a start.
      await first;
      return holds(lease) ? work() : undefined;
    },
    loop: {
      poke: () => loop.poke(),
      stop: async () => {
        await loop.stop();
        until.clear();
        // If the database is away the leases expire.
        await returnLeases(db, holder).catch(() => undefined);
      },
    },
  };
}
