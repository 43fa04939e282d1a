/** The interface of tracing for the rest of the process. */
import type { WorkflowClientInterceptor } from '@temporalio/client';

/** The span of one HTTP request. */
export interface RequestSpan {
  /** Runs `work`; spans that `work` begins belong to the request. */
  run<T>(work: () => T): T;
  end(answer: {
    readonly route: string;
    readonly status: number;
    readonly request_id: string;
  }): void;
}

export interface Tracing {
  /** Begins the span of a request, as a part of the caller's trace if the headers name one. */
  request(
    method: string,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): RequestSpan;
  /** Returns `work` bound to the current trace, for work that runs later. */
  bind<T>(work: () => T): () => T;
  /** Adds a span when a run is woken, and passes the trace on to the run. */
  readonly clientInterceptor: WorkflowClientInterceptor;
  /** Sends the remaining spans and ends tracing. */
  stop(): Promise<void>;
}

export type TraceHeaders = Readonly<Record<string, string>>;

/** A call out of this process that gets a span of its own. */
export interface TracedCall<T> {
  readonly name: string;
  /** The W3C traceparent of the trace that it belongs to; null: the current trace, or a new one. */
  readonly parent: string | null;
  readonly work: () => Promise<T>;
  /** Returns what the span says of the outcome: ids, numbers and fixed words. */
  readonly describe: (outcome: T) => {
    readonly failed: boolean;
    readonly attributes: Readonly<Record<string, string | number>>;
  };
}

/** Tracing for code that does not receive {@link Tracing} as an argument. */
export interface CurrentTracing {
  /** Returns the headers that continue the current trace; empty without one. */
  headers(): TraceHeaders;
  /** Runs `work` as a part of the trace that a W3C traceparent names; null: of the current one. */
  within<T>(parent: string | null, work: () => T): T;
  /** Runs the call in a span. */
  call<T>(call: TracedCall<T>): Promise<T>;
}
