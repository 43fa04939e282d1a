/**
 * Traces of requests and of the work that they cause. Off unless a collector is configured; while
 * off, only this file is loaded. `platform/tracing/sdk.ts` makes the traces.
 */
import type { Logger } from 'pino';
import type { TracingConfig } from './config.ts';
import type { CurrentTracing, TracedCall, TraceHeaders, Tracing } from './tracing/handle.ts';

const NONE: TraceHeaders = {};
const OFF: CurrentTracing = {
  headers: () => NONE,
  within: (_parent, work) => work(),
  call: ({ work }) => work(),
};
/** The form of a W3C traceparent in which a link is stored, as the database checks it. */
const TRACE_PARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
// A process has one tracer, as in OpenTelemetry itself. Calls of executors are nested too deeply to
// receive the tracer as an argument.
let current = OFF;

/** Returns the headers that continue the current trace in an outgoing call; empty without one. */
export function traceHeaders(): TraceHeaders {
  return current.headers();
}

/** Returns the W3C traceparent of the current span, to be stored; null without one. */
export function traceParent(): string | null {
  const link = traceHeaders()['traceparent'] ?? '';
  return TRACE_PARENT.test(link) ? link : null;
}

/**
 * Runs `work` as a part of the trace that a stored traceparent names. With null, or without
 * tracing, `work` stays where it is.
 */
export function continueTrace<T>(parent: string | null, work: () => T): T {
  return current.within(parent, work);
}

/** Runs a call in a span of its own. Returns or throws what the call does. */
export function traceCall<T>(call: TracedCall<T>): Promise<T> {
  return current.call(call);
}

/** Loads the tracing libraries and starts tracing this process. */
export async function startTracing(
  config: TracingConfig,
  about: { readonly role: string; readonly log: Logger },
): Promise<Tracing> {
  const { createTracing } = await import('./tracing/sdk.ts');
  const { tracing, nested } = createTracing(config, about);
  current = nested;
  return tracing;
}
