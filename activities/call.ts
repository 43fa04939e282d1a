/** The limits of a call to the outside, from the activity that makes it. */
import { Context } from '@temporalio/activity';
import type { CallOptions } from '../domain/executor.ts';
import { traceHeaders } from '../platform/tracing.ts';

/** Calls that an activity has made so far. */
const made = new WeakMap<Context, number>();

/**
 * Aborts when the activity is cancelled or its worker shuts down. Each call has its own request id.
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

/** The same call, ended after so many milliseconds. */
export function within(options: CallOptions, milliseconds: number): CallOptions {
  return {
    ...options,
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(milliseconds)]),
  };
}

const BEAT_MS = 2_000;

/**
 * Beats until `stop` is called, so that the server knows this worker is alive and the UI shows
 * `details`.
 */
export function startHeartbeat(details: () => unknown = () => undefined): { stop(): void } {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(details()), BEAT_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
