/**
 * Passes the trace that started a run to the activities that the run schedules and to the run that
 * continues it, if the process traces. Only copies a header, without spans, waits or decisions, so
 * a history replays the same without it.
 */
import type { ActivityInput, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { workflowSettings } from './settings.ts';

type Headers = ActivityInput['headers'];

/** The header in which the SDK's OpenTelemetry interceptors store their context. */
const TRACE_HEADER = '_tracer-data';

export const interceptors: WorkflowInterceptorsFactory = () => {
  if (!workflowSettings().traceHeaders) return {};
  let trace: Headers = {};
  // A run of a movement that was created without tracing may have no trace; it takes the trace of
  // the first command that has one.
  const keep = (headers: Headers): void => {
    const found = headers[TRACE_HEADER];
    if (found !== undefined && trace[TRACE_HEADER] === undefined) trace = { [TRACE_HEADER]: found };
  };
  const traced = (headers: Headers): Headers => ({ ...headers, ...trace });
  return {
    inbound: [
      {
        execute: (input, next) => {
          keep(input.headers);
          return next(input);
        },
        handleSignal: (input, next) => {
          keep(input.headers);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: traced(input.headers) }),
        scheduleLocalActivity: (input, next) => next({ ...input, headers: traced(input.headers) }),
        continueAsNew: (input, next) => next({ ...input, headers: traced(input.headers) }),
      },
    ],
  };
};
