/** The limits of a call to an executor, from the activity that makes it. */
import { Context } from '@temporalio/activity';
import type { CallOptions } from '../../domain/executor.ts';
import { traceHeaders } from '../../platform/tracing.ts';

/** Aborts when the activity is cancelled or its worker shuts down. */
export function callOptions(): CallOptions {
  const { info, cancellationSignal } = Context.current();
  return { signal: cancellationSignal, requestId: `${info.activityId}.${info.attempt}`, traceHeaders: traceHeaders() };
}

/** Beats until `stop` is called, so that the server knows this worker is alive. */
export function startHeartbeat(everyMs = 2_000): { stop(): void } {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
