/** What was sent under one set of venue entries is not judged by another. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonValue } from '../../domain/json.ts';

/**
 * `recorded` is what was written down when it was prepared, `now` what the venues file says: other
 * contracts would show nothing of it, which proves nothing.
 *
 * @throws ExecutorFault `not_yet` `VENUE_ENTRY_CHANGED`: shown, and asked again.
 */
export function requireSameEntries(recorded: JsonValue | undefined, now: string | null): void {
  if (typeof recorded !== 'string' || recorded === now) return;
  throw new ExecutorFault(
    'not_yet',
    'VENUE_ENTRY_CHANGED',
    `the venues file says [${now}] now, and it was sent under [${recorded}]: put these entries back until it has come to its end`,
    { retryAfterSeconds: 15 },
  );
}
