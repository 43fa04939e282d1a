/**
 * Traces of requests and of the work that they cause. Off unless a collector is configured; while
 * off, only this file is loaded. `platform/tracing/sdk.ts` makes the traces.
 */
import type { Logger } from 'pino';
import type { TracingConfig } from './config.ts';
import type { TraceHeaders, Tracing } from './tracing/handle.ts';

const NONE: TraceHeaders = {};
// A process has one tracer, as in OpenTelemetry itself. Calls of executors are nested too deeply to
// receive the tracer as an argument.
let current: () => TraceHeaders = () => NONE;

/** Returns the headers that continue the current trace in an outgoing call; empty without one. */
export function traceHeaders(): TraceHeaders {
  return current();
}

/** Loads the tracing libraries and starts tracing this process. */
export async function startTracing(
  config: TracingConfig,
  about: { readonly role: string; readonly log: Logger },
): Promise<Tracing> {
  const { createTracing } = await import('./tracing/sdk.ts');
  const { headers, ...tracing } = createTracing(config, about);
  current = headers;
  return tracing;
}
