/** Makes a node wait before anything is sent while its venue does not take the action. */
import type { PhaseResult } from '../../domain/messages.ts';
import type { NodeFields } from '../../domain/transition.ts';
import type { VenueWait } from '../../domain/venue-waits.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';
import { result } from './results.ts';
import { waitBeforeFence } from './wait-before-fence.ts';

/** Default of {@link PhaseDependencies.venueWaitAttentionSeconds}. */
const ATTENTION_SECONDS = 900;
/** Shortest pause, so that a node whose time is nearly over does not repeat without pause. */
const SHORTEST_PAUSE_MS = 1_000;

/**
 * Makes the node wait, and then run its preflight again. This uses no attempt, and the node's
 * `execution_seconds` count on. `set`: fields that are written as well.
 */
export async function waitForVenue(
  deps: PhaseDependencies,
  row: PhaseRow,
  { code, message, seconds }: VenueWait,
  set: NodeFields = {},
): Promise<PhaseResult> {
  const { venueWaitAttentionSeconds: attention = ATTENTION_SECONDS } = deps;
  await waitBeforeFence(deps, row, {
    code,
    why: message,
    set: {
      ...set,
      // The executor has answered, so earlier silence is over.
      ...(row.unanswered > 0 ? { unanswered: 0 } : {}),
      // Counts from the first of these answers, whichever code they have.
      ...(row.wait_overdue_ms === null ? { wait_overdue_at: { '@after_seconds': attention } } : {}),
    },
  });
  return { ...result('READY', 'again'), phase: 'preflight', delay_ms: pauseMs(row, seconds) };
}

/** Returns the fields that end the node's wait for its venue; none if it does not wait. */
export function waitOver({ wait_overdue_ms }: PhaseRow): NodeFields {
  return wait_overdue_ms === null
    ? {}
    : { error_code: null, error_message: null, wait_overdue_at: null };
}

/** Returns the pause, cut at the node's `execution_seconds`, so that its time ends on time. */
function pauseMs({ node, now_ms, started_ms }: PhaseRow, seconds: number): number {
  const limit = node.timeout_policy?.execution_seconds;
  const left = limit === undefined ? Infinity : (started_ms ?? now_ms) + limit * 1_000 - now_ms;
  return Math.ceil(Math.max(Math.min(seconds * 1_000, left), SHORTEST_PAUSE_MS));
}
