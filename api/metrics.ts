/** What the API tells Prometheus about its requests. */
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

/** Counts one answered request. The route is its id, so that ids in paths make no series. */
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
