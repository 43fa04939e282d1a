/** Removes nonces of signed API requests that no valid request can still use. */
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
 * Seconds that a used nonce is kept: as long as a request with its timestamp could be valid. The
 * timestamp may be up to one skew ahead, and stays valid for one skew more. The largest allowed
 * skew is used, so that raising the setting makes no old request valid again; one more minute
 * covers differences between clocks.
 */
const KEEP_SECONDS = 2 * LARGEST_SKEW_SECONDS + 60;

/** Starts the loop, which removes old nonces in batches. */
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
