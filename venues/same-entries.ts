/** Refuses to send or to check under venue entries that have changed since. */
import { ExecutorFault } from '../domain/executor.ts';
import type { JsonValue } from '../domain/json.ts';
import { VENUE_ENTRY_CHANGED } from '../domain/send/at-venue.ts';
import { rejected } from './node-plan.ts';

/** True if recorded entries differ from the current ones; false if none were recorded. */
export const areOther = (recorded: JsonValue | undefined, now: string | null): recorded is string =>
  typeof recorded === 'string' && recorded !== now;

/**
 * Throws if what was sent would be checked with changed entries. `recorded`: the entries when it
 * was prepared; `now`: those of the venues file. Other contracts and accounts would not show it,
 * and their silence proves nothing.
 *
 * @throws ExecutorFault `not_yet` `VENUE_ENTRY_CHANGED`: the message is shown, and the check is
 *   repeated later.
 */
export function requireSameEntries(recorded: JsonValue | undefined, now: string | null): void {
  if (!areOther(recorded, now)) return;
  throw new ExecutorFault(
    'not_yet',
    VENUE_ENTRY_CHANGED,
    `the venues file says [${now}] now, but the send was made under [${recorded}]: restore these entries until it has ended`,
    { retryAfterSeconds: 15 },
  );
}

/**
 * Throws if the entries changed before anything was signed or sent. Without recorded entries the
 * current ones apply.
 *
 * @throws ExecutorFault `rejected` `VENUE_ENTRY_CHANGED`: nothing was sent, and a retry prepares
 *   under the current entries.
 */
export function requirePreparedEntries(recorded: JsonValue | undefined, now: string | null): void {
  if (!areOther(recorded, now)) return;
  throw rejected(
    VENUE_ENTRY_CHANGED,
    `nothing was sent: the venue entries changed after the node was prepared; check the entries, then retry the node. It was prepared under [${recorded}], and the venues file says [${now}] now`,
  );
}
