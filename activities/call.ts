/** The limits of a call to the outside, from the activity that makes it. */
import { Context } from '@temporalio/activity';
import type { CallOptions } from '../domain/executor.ts';
import { traceHeaders } from '../platform/tracing.ts';

/** Aborts when the activity is cancelled or its worker shuts down. */
export function callOptions(): CallOptions {
  const { info, cancellationSignal } = Context.current();
  return {
    signal: cancellationSignal,
    requestId: `${info.activityId}.${info.attempt}`,
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
