/** Options of outside calls that an activity makes: abort signal, request id and trace headers. */
import { Context } from '@temporalio/activity';
import type { CallOptions } from '../domain/executor.ts';
import { leftToSend, tooLate, type Moment } from '../domain/send/window.ts';
import { deadline, momentNow } from '../platform/deadline.ts';
import { traceHeaders } from '../platform/tracing.ts';

/** Number of calls that each activity has made so far; it is a part of the request id. */
const made = new WeakMap<Context, number>();

/**
 * Returns options for one outside call. Its signal aborts when the activity is cancelled or its
 * worker shuts down; each call gets its own request id.
 */
export function callOptions(): CallOptions {
  const context = Context.current();
  const { info, cancellationSignal } = context;
  const number = (made.get(context) ?? 0) + 1;
  made.set(context, number);
  return {
    signal: cancellationSignal,
    requestId: `${info.activityId}.${info.attempt}.${number}`,
    traceHeaders: traceHeaders(),
  };
}

/**
 * Makes one call whose signal aborts, and whose last moment is, at `until` at the latest. Still
 * waits for the call after that: a send is never abandoned.
 *
 * @throws ExecutorFault `SEND_TOO_LATE`, without a call, if `until` has passed.
 */
export async function withDeadline<T>(
  options: CallOptions,
  until: Moment,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const now = momentNow();
  const left = leftToSend(until, now);
  if (left === null) throw tooLate();
  // Of the same reading as `left`: a machine that is suspended right here gets no new window.
  const ending = endingBy(options, left, now.wall_ms);
  const limit = deadline(ending, left);
  try {
    return await call({ ...ending, signal: limit.signal });
  } finally {
    limit.clear();
  }
}

/** Returns the same options with a last moment that is at most `milliseconds` from `now_ms`. */
export function endingBy(
  options: CallOptions,
  milliseconds: number,
  now_ms = Date.now(),
): CallOptions {
  return {
    ...options,
    notAfter: Math.min(options.notAfter ?? Infinity, now_ms + milliseconds),
  };
}

const BEAT_MS = 2_000;

/**
 * Sends heartbeats until `stop` is called, so that the Temporal server knows that this worker is
 * alive and the Temporal UI shows `details`.
 */
export function startHeartbeat(details: () => unknown = () => undefined): { stop(): void } {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(details()), BEAT_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
