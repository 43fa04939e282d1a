/** Forgets nonces that no request could still be sent with. */
import type { Logger } from 'pino';
import { LARGEST_SKEW_SECONDS } from '../../platform/config/settings.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import type { Database } from '../../prisma/client.ts';
import { dropOldNonces } from '../../store/request-nonces.ts';

const PAUSE_MS = 30_000;
const BATCH = 5_000;

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
}: {
  readonly db: Database;
  readonly log: Logger;
}): Loop {
  return startLoop({
    name: 'nonces',
    pauseMs: PAUSE_MS,
    log,
    work: async () =>
      (await dropOldNonces(db, { keepSeconds: KEEP_SECONDS, atMost: BATCH })) === BATCH,
  });
}
