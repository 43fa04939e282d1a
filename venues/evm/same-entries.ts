/** Refuses to check a prepared or sent act against venue entries that have changed. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonValue } from '../../domain/json.ts';
import { rejected } from '../node-plan.ts';

const CODE = 'VENUE_ENTRY_CHANGED';

/** True if recorded entries differ from the current ones; false if none were recorded. */
const areOther = (recorded: JsonValue | undefined, now: string | null): recorded is string =>
  typeof recorded === 'string' && recorded !== now;

/**
 * Throws if a sent act would be checked with changed entries. `recorded`: the entries when the act
 * was prepared; `now`: those of the venues file. Other contracts would not show the act, and their
 * silence proves nothing.
 *
 * @throws ExecutorFault `not_yet` `VENUE_ENTRY_CHANGED`: the message is shown, and the check is
 *   repeated later.
 */
export function requireSameEntries(recorded: JsonValue | undefined, now: string | null): void {
  if (!areOther(recorded, now)) return;
  throw new ExecutorFault(
    'not_yet',
    CODE,
    `the venues file says [${now}] now, but the send was made under [${recorded}]: restore these entries until this node has ended`,
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
    `nothing was sent: the venue entries changed after the node was prepared; check the entries, then retry the node. It was prepared under [${recorded}], and the venues file says [${now}] now`,
  );
}
