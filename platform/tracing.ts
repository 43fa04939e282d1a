/**
 * Traces of requests and of what follows from them. Off unless a collector is configured; then this file is all
 * of it that is loaded. `platform/tracing/sdk.ts` holds what it takes to make them.
 */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { Logger } from 'pino';
import type { TracingConfig } from './config.ts';

/** The span of one HTTP request. */
export interface RequestSpan {
  /** Whatever `work` begins belongs to the request. */
  run<T>(work: () => T): T;
  end(answer: { readonly route: string; readonly status: number; readonly request_id: string }): void;
}

export interface Tracing {
  /** Begins the span of a request, as a part of the caller's trace when it names one. */
  request(method: string, headers: Readonly<Record<string, string | readonly string[] | undefined>>): RequestSpan;
  /** Ties work that is done later to what is going on now. */
  bind<T>(work: () => T): () => T;
  /** Gives the wake of a run a span, and the run its trace. */
  readonly clientInterceptor: WorkflowClientInterceptor;
  /** Sends what is left and ends. */
  stop(): Promise<void>;
}

export type TraceHeaders = Readonly<Record<string, string>>;

const NONE: TraceHeaders = {};
// A process has one tracer, as OpenTelemetry itself has it; calls of executors are too deep to be handed it.
let current: () => TraceHeaders = () => NONE;

/** The headers by which a call to somebody else goes on in the trace of now; none without one. */
export function traceHeaders(): TraceHeaders {
  return current();
}

/** Loads what it takes and begins to trace this process. */
export async function startTracing(config: TracingConfig, about: { readonly role: string; readonly log: Logger }): Promise<Tracing> {
  const { createTracing } = await import('./tracing/sdk.ts');
  const { headers, ...tracing } = createTracing(config, about);
  current = headers;
  return tracing;
}
