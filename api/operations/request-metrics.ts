/** Request metrics of the API for Prometheus. */
import { Counter, Histogram } from 'prom-client';

const LABELS = ['method', 'route', 'status'] as const;
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

const requests = new Counter({
  name: 'svc_http_requests_total',
  help: 'Answered requests by route and status.',
  labelNames: LABELS,
});

const durations = new Histogram({
  name: 'svc_http_request_duration_seconds',
  help: 'Time from the first byte of a request to the end of its answer.',
  labelNames: LABELS,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

const approvals = new Histogram({
  name: 'svc_approval_wait_seconds',
  help: 'Time from the creation of a movement to its approval by a caller.',
  buckets: [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200, 21_600, 86_400, 604_800],
});

/** Records one approval and how long its movement had waited, in milliseconds. */
export function observeApproval(waitedMs: number): void {
  approvals.observe(Math.max(0, waitedMs / 1_000));
}

const decisions = new Counter({
  name: 'svc_auto_approvals_total',
  help: 'Decisions about new movements without a person, by what came of them.',
  labelNames: ['outcome', 'reason'] as const,
});

/** Counts one automatic decision about a new movement. */
export function observeAutoApproval(result: {
  readonly outcome: string;
  readonly reason: string;
}): void {
  decisions.inc({ outcome: result.outcome, reason: result.reason });
}

/** Counts one answered request. `route` is a route's id, so ids in paths create no series. */
export function observeRequest(request: {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}): void {
  const labels = {
    method: METHODS.includes(request.method) ? request.method : 'other',
    route: request.route,
    status: String(request.status),
  };
  requests.inc(labels);
  durations.observe(labels, request.seconds);
}
