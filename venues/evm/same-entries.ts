/** What was prepared or sent under one set of venue entries is not judged by another. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonValue } from '../../domain/json.ts';

const CODE = 'VENUE_ENTRY_CHANGED';

/**
 * For a look at what was sent. `recorded` is what was written down when it was prepared, `now` what
 * the venues file says: other contracts would show nothing of it, which proves nothing.
 *
 * @throws ExecutorFault `not_yet` `VENUE_ENTRY_CHANGED`: shown, and asked again.
 */
export function requireSameEntries(recorded: JsonValue | undefined, now: string | null): void {
  if (typeof recorded !== 'string' || recorded === now) return;
  throw new ExecutorFault(
    'not_yet',
    CODE,
    `the venues file says [${now}] now, and it was sent under [${recorded}]: put these entries back until it has come to its end`,
    { retryAfterSeconds: 15 },
  );
}

/**
 * The same before anything is signed. Where no entries are recorded, those of now hold.
 *
 * @throws ExecutorFault `rejected` `VENUE_ENTRY_CHANGED`: nothing was sent, and a new attempt is
 *   prepared under the entries of now.
 */
export function requirePreparedEntries(recorded: JsonValue | undefined, now: string | null): void {
  if (typeof recorded !== 'string' || recorded === now) return;
  throw new ExecutorFault(
    'rejected',
    CODE,
    `nothing was sent: the venue entries changed after it was prepared; check them, then retry it. It was prepared under [${recorded}], and the venues file says [${now}] now`,
  );
}
