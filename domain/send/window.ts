/**
 * How long a send may be under way. The window starts at the send fence. The database's clock and
 * that of the process that looks decide when "not found" proves something; the sender's own clocks
 * decide whether anything is sent at all.
 */
import { ExecutorFault, LONGEST_TIMEOUT_SECONDS } from '../executor.ts';
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
 * How long, in seconds, stops that were read allow a send behind its fence. Reading them takes
 * milliseconds; who has waited for longer was held up, and reads them again.
 */
export const STOPS_COUNT_SECONDS = 30;

/**
 * One moment by both clocks of the sender, in milliseconds. The monotonic clock cannot be set, but
 * stands still while the machine is suspended. The wall clock counts that time, but can be set.
 */
export interface Moment {
  readonly monotonic_ms: number;
  /** Since 1970. */
  readonly wall_ms: number;
}

/**
 * Returns the last moment to send. `now` is read before the send fence is written, so this moment
 * is never later than the database's `send_not_after`.
 */
export function deadlineOf(now: Moment, window_seconds: number): Moment {
  const window_ms = window_seconds * 1000;
  return { monotonic_ms: now.monotonic_ms + window_ms, wall_ms: now.wall_ms + window_ms };
}

/**
 * Returns the whole milliseconds left to send; null when the time to send is over. The clock with
 * less time left decides: a suspended machine and a clock set forward end the window sooner, and a
 * clock set back does not lengthen it.
 */
export function leftToSend(deadline: Moment, now: Moment): number | null {
  const left = Math.min(deadline.monotonic_ms - now.monotonic_ms, deadline.wall_ms - now.wall_ms);
  return left > 0 ? Math.ceil(left) : null;
}

/** Returns the fault of a send that was not made because its time to send was over. */
export function tooLate(): ExecutorFault {
  return new ExecutorFault('timeout', 'SEND_TOO_LATE', 'the time to send has passed');
}
