/**
 * Traces of requests and of what follows from them. Off unless a collector is configured; then this
 * file is all of it that is loaded. `platform/tracing/sdk.ts` holds what it takes to make them.
 */
import type { Logger } from 'pino';
import type { TracingConfig } from './config.ts';
import type { TraceHeaders, Tracing } from './tracing/handle.ts';

const NONE: TraceHeaders = {};
// A process has one tracer, as OpenTelemetry itself has it; calls of executors are too deep to be
// handed it.
let current: () => TraceHeaders = () => NONE;

/** The headers by which a call to somebody else goes on in the trace of now; none without one. */
export function traceHeaders(): TraceHeaders {
  return current();
}

/** Loads what it takes and begins to trace this process. */
export async function startTracing(
  config: TracingConfig,
  about: { readonly role: string; readonly log: Logger },
): Promise<Tracing> {
  const { createTracing } = await import('./tracing/sdk.ts');
  const { headers, ...tracing } = createTracing(config, about);
  current = headers;
  return tracing;
}
