/** Removes nonces that no valid request could still use. */
import type { Logger } from 'pino';
import { LARGEST_SKEW_SECONDS } from '../../platform/config/settings.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import type { Leases } from './leases.ts';
import { dropOldNonces } from '../../store/request-nonces.ts';

const PAUSE_MS = 30_000;
const BATCH = 5_000;
export const NONCES_LEASE = 'nonces';

/**
 * A nonce is kept while a request with its timestamp could still pass: the timestamp may be one
 * skew ahead when used, and passes until one skew after it. Uses the largest skew that any process
 * may have, so that a raised setting makes no old request valid; a minute more covers clock
 * differences.
 */
const KEEP_SECONDS = 2 * LARGEST_SKEW_SECONDS + 60;

/** Removes old nonces in batches, a pause apart. */
export function startNonceCleaner({
  db,
  log,
  leases,
}: {
  readonly db: Database;
  readonly log: Logger;
  readonly leases: Pick<Leases, 'under'>;
}): Loop {
  return startLoop({
    name: 'nonces',
    pauseMs: PAUSE_MS,
    log,
    work: leases.under(
      NONCES_LEASE,
      async () => (await dropOldNonces(db, { keepSeconds: KEEP_SECONDS, atMost: BATCH })) === BATCH,
    ),
  });
}
