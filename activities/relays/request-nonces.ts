/** Forgets nonces that no request could still be sent with. */
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
 * A nonce is needed for as long as its timestamp may pass: one skew into the future when it was
 * used, and one back from then. The largest skew that any process may be set to counts, so that a
 * setting that is raised makes no old request new; a minute more covers clocks of processes that
 * are not quite the database's.
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
