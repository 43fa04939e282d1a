/**
 * How long a send may be under way. The window starts at the send fence and is measured by two
 * clocks: the database's clock decides when "not found" proves something; the sender's own clock
 * decides whether anything is sent at all.
 */
import { LONGEST_TIMEOUT_SECONDS } from '../executor.ts';
import { TAKE_SECONDS } from '../messages.ts';

/**
 * Returns the seconds from the send fence until the send must have ended: the time-out of one call
 * and, for a call that waits in a queue, the time in which a worker must take it (`take_seconds`).
 * Calls inside this process do not wait.
 */
export function windowSeconds(call: {
  readonly timeout_seconds: number;
  readonly take_seconds: number;
}): number {
  return call.timeout_seconds + call.take_seconds;
}

/** The longest send window, in seconds. After it, no send of a lost record can be under way. */
export const LONGEST_WINDOW_SECONDS = windowSeconds({
  timeout_seconds: LONGEST_TIMEOUT_SECONDS,
  take_seconds: TAKE_SECONDS,
});

/**
 * Returns the last moment to send, in milliseconds of the sender's monotonic clock. `now_ms` is
 * read before the send fence is written, so this moment is never later than the database's
 * `send_not_after`.
 */
export function deadlineOf(now_ms: number, window_seconds: number): number {
  return now_ms + window_seconds * 1000;
}

/** Returns the whole milliseconds left to send; null when the time to send is over. */
export function leftToSend(deadline_ms: number, now_ms: number): number | null {
  const left = deadline_ms - now_ms;
  return left > 0 ? Math.ceil(left) : null;
}
