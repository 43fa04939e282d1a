/** Counts the requests of a client to Temporal. */
import {
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';
import { Counter } from 'prom-client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** The names of gRPC's status codes, each at its code. */
export const STATUS_NAMES: readonly string[] = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

const requests = new Counter({
  name: 'svc_temporal_requests_total',
  help: 'Requests of this process’s client to Temporal, retries included.',
  labelNames: ['operation'] as const,
});
const failures = new Counter({
  name: 'svc_temporal_request_failures_total',
  help: 'Requests of this process’s client to Temporal that failed, by gRPC status.',
  labelNames: ['operation', 'status_code'] as const,
});

/**
 * Returns an interceptor that counts each try of each request and repeats it as the library does by
 * default. It takes the place of the library's own, which sees the status of every try.
 */
export function countingRetries(): Interceptor {
  const retries = defaultGrpcRetryOptions();
  return (options, nextCall) => {
    // `/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace`; the library's methods
    // are few, so they may be a label.
    const operation = options.method_definition.path.replace(/^.*\//, '');
    const counted = makeGrpcRetryInterceptor({
      ...retries,
      retryableDecider: (attempt, status) => {
        // The library calls this for the status of every try, also for OK.
        if (status.code !== 0)
          failures.inc({ operation, status_code: STATUS_NAMES[status.code] ?? 'UNKNOWN' });
        return retries.retryableDecider(attempt, status);
      },
    });
    return counted(options, (each) => {
      requests.inc({ operation });
      return nextCall(each);
    });
  };
}
