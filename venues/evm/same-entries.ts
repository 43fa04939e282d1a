/** Refuses to judge a prepared or sent act by venue entries that have changed. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonValue } from '../../domain/json.ts';
import { rejected } from '../node-plan.ts';

const CODE = 'VENUE_ENTRY_CHANGED';

/** Whether entries were recorded, and are not those of now. Without recorded ones, any apply. */
const areOther = (recorded: JsonValue | undefined, now: string | null): recorded is string =>
  typeof recorded === 'string' && recorded !== now;

/**
 * Throws if a sent act would be checked with changed entries. `recorded`: the entries when the act
 * was prepared; `now`: those of the venues file. Other contracts would not show the act, which
 * proves nothing.
 *
 * @throws ExecutorFault `not_yet` `VENUE_ENTRY_CHANGED`: the message is shown, and the check is
 *   repeated later.
 */
export function requireSameEntries(recorded: JsonValue | undefined, now: string | null): void {
  if (!areOther(recorded, now)) return;
  throw new ExecutorFault(
    'not_yet',
    CODE,
    `the venues file says [${now}] now, and it was sent under [${recorded}]: restore these entries until it has ended`,
    { retryAfterSeconds: 15 },
  );
}

/**
 * Throws if the entries changed before anything was signed. Without recorded entries the current
 * ones apply.
 *
 * @throws ExecutorFault `rejected` `VENUE_ENTRY_CHANGED`: nothing was sent, and a retry prepares
 *   under the current entries.
 */
export function requirePreparedEntries(recorded: JsonValue | undefined, now: string | null): void {
  if (!areOther(recorded, now)) return;
  throw rejected(
    CODE,
    `nothing was sent: the venue entries changed after it was prepared; check them, then retry it. It was prepared under [${recorded}], and the venues file says [${now}] now`,
  );
}
