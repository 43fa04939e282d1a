/** What a process sees of its tracing. */
import type { WorkflowClientInterceptor } from '@temporalio/client';

/** The span of one HTTP request. */
export interface RequestSpan {
  /** Whatever `work` begins belongs to the request. */
  run<T>(work: () => T): T;
  end(answer: {
    readonly route: string;
    readonly status: number;
    readonly request_id: string;
  }): void;
}

export interface Tracing {
  /** Begins the span of a request, as a part of the caller's trace when it names one. */
  request(
    method: string,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): RequestSpan;
  /** Ties work that is done later to what is going on now. */
  bind<T>(work: () => T): () => T;
  /** Gives the wake of a run a span, and the run its trace. */
  readonly clientInterceptor: WorkflowClientInterceptor;
  /** Sends what is left and ends. */
  stop(): Promise<void>;
}

export type TraceHeaders = Readonly<Record<string, string>>;
