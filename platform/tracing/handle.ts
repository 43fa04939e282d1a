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
