/**
 * Leases of what one process does for all: done by several it would change nothing, and cost venues
 * and Temporal as many times the calls. A holder that dies, or cannot reach the database, is
 * followed by another when its lease is over. One that is late does no harm: what the loops under a
 * lease write is compared in the database, or may be said twice.
 */
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { returnLeases, takeLeases } from '../../store/leases.ts';

/** For how long one is taken, and how often it is renewed. */
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
        // From before the database was asked: until then no other has it, however late its answer.
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
      // Else what is done seldom would wait a whole pause more after a start.
      await first;
      return holds(lease) ? work() : undefined;
    },
    loop: {
      poke: () => loop.poke(),
      stop: async () => {
        await loop.stop();
        until.clear();
        // Where the database is away they end by themselves.
        await returnLeases(db, holder).catch(() => undefined);
      },
    },
  };
}
