/**
 * Hands the trace that a run was begun with to the activities it schedules, where the process
 * traces. It only copies a header: it makes no spans, waits for nothing and decides nothing, so a
 * history replays the same with it and without it.
 */
import type { ActivityInput, WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { workflowSettings } from './settings.ts';

type Headers = ActivityInput['headers'];

/**
 * The header in which the SDK's OpenTelemetry interceptors of clients and activities keep their
 * context.
 */
const TRACE_HEADER = '_tracer-data';

export const interceptors: WorkflowInterceptorsFactory = () => {
  if (!workflowSettings().traceHeaders) return {};
  let trace: Headers = {};
  // A run that the relay began has none; it takes the trace of the first command that brings one.
  const keep = (headers: Headers): void => {
    const found = headers[TRACE_HEADER];
    if (found !== undefined && trace[TRACE_HEADER] === undefined) trace = { [TRACE_HEADER]: found };
  };
  const given = (headers: Headers): Headers => ({ ...headers, ...trace });
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
        scheduleActivity: (input, next) => next({ ...input, headers: given(input.headers) }),
        scheduleLocalActivity: (input, next) => next({ ...input, headers: given(input.headers) }),
      },
    ],
  };
};
