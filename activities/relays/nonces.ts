/** Forgets nonces that no request could still be sent with. */
import type { Logger } from 'pino';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { dropOldNonces } from '../../store/nonces.ts';

const PAUSE_MS = 30_000;
const BATCH = 5_000;

/**
 * A nonce is needed for as long as its timestamp may pass: one skew into the future when it was used, and
 * one back from then. A minute more covers clocks of processes that are not quite the database's.
 */
export function startNonceCleaner(options: { readonly db: Database; readonly log: Logger; readonly maxSkewSeconds: number }): Loop {
  const { db, log, maxSkewSeconds } = options;
  return startLoop({
    name: 'nonces',
    pauseMs: PAUSE_MS,
    log,
    work: async () => (await dropOldNonces(db, { keepSeconds: 2 * maxSkewSeconds + 60, atMost: BATCH })) === BATCH,
  });
}
