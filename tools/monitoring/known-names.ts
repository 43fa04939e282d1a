/**
 * Metrics that others serve, as far as dashboards and alert rules use them: Temporal's SDK, the
 * runtime of Node, Temporal's server, Prometheus. Each list says where its names were seen.
 */
import type { MetricType } from './contract.ts';

export interface KnownMetric {
  readonly type: MetricType;
  readonly labels: readonly string[];
}

type Known = Readonly<Record<string, KnownMetric>>;

/** A worker's metrics have these, and `service_name`. */
const WORKER = ['namespace', 'task_queue', 'service_name'];
const OF_WORKFLOWS = [...WORKER, 'workflow_type'];
const OF_ACTIVITIES = [...WORKER, 'workflow_type', 'activity_type'];
const REQUEST = ['namespace', 'operation', 'service_name'];

const counter = (...labels: readonly string[]): KnownMetric => ({ type: 'counter', labels });
const gauge = (...labels: readonly string[]): KnownMetric => ({ type: 'gauge', labels });
const histogram = (...labels: readonly string[]): KnownMetric => ({ type: 'histogram', labels });

/**
 * Seen in @temporalio/core-bridge 1.24.0: sdk-core/src/telemetry/metrics.rs and
 * client/src/metrics.rs, with `_total` and seconds as activities/sdk.ts sets them, and on the page
 * that test/slow/metrics.test.ts reads.
 */
export const SDK_METRICS: Known = {
  temporal_workflow_completed_total: counter(...OF_WORKFLOWS),
  temporal_workflow_canceled_total: counter(...OF_WORKFLOWS),
  temporal_workflow_failed_total: counter(...OF_WORKFLOWS),
  temporal_workflow_continue_as_new_total: counter(...OF_WORKFLOWS),
  temporal_workflow_endtoend_latency_seconds: histogram(...OF_WORKFLOWS),
  temporal_workflow_task_queue_poll_empty_total: counter(...WORKER),
  temporal_workflow_task_queue_poll_succeed_total: counter(...WORKER),
  temporal_workflow_task_execution_failed_total: counter(...OF_WORKFLOWS, 'failure_reason'),
  temporal_workflow_task_schedule_to_start_latency_seconds: histogram(...WORKER),
  temporal_workflow_task_replay_latency_seconds: histogram(...OF_WORKFLOWS),
  temporal_workflow_task_execution_latency_seconds: histogram(...OF_WORKFLOWS),
  temporal_activity_poll_no_task_total: counter(...WORKER),
  temporal_activity_execution_failed_total: counter(...OF_ACTIVITIES, 'failure_reason'),
  temporal_activity_schedule_to_start_latency_seconds: histogram(...WORKER),
  temporal_activity_execution_latency_seconds: histogram(...OF_ACTIVITIES),
  temporal_activity_succeed_endtoend_latency_seconds: histogram(...OF_ACTIVITIES),
  temporal_local_activity_total: counter(...OF_ACTIVITIES),
  temporal_local_activity_execution_failed_total: counter(...OF_ACTIVITIES, 'failure_reason'),
  temporal_local_activity_execution_latency_seconds: histogram(...OF_ACTIVITIES),
  // `workflow_task`, `sticky_workflow_task`, `activity_task` or `nexus_task`.
  temporal_num_pollers: gauge(...WORKER, 'poller_type'),
  // `WorkflowWorker` (in use only), `ActivityWorker`, `LocalActivityWorker` or `NexusWorker`.
  temporal_worker_task_slots_available: gauge(...WORKER, 'worker_type'),
  temporal_worker_task_slots_used: gauge(...WORKER, 'worker_type'),
  temporal_sticky_cache_size: gauge(...WORKER),
  temporal_sticky_cache_hit_total: counter(...OF_WORKFLOWS),
  temporal_sticky_cache_miss_total: counter(...WORKER),
  temporal_sticky_cache_total_forced_eviction_total: counter(...WORKER),
  temporal_request_total: counter(...REQUEST),
  // A gRPC status, or `TRANSPORT_ERROR` where no answer came.
  temporal_request_failure_total: counter(...REQUEST, 'status_code'),
  temporal_request_latency_seconds: histogram(...REQUEST),
  temporal_long_request_total: counter(...REQUEST, 'task_queue'),
  temporal_long_request_failure_total: counter(...REQUEST, 'task_queue', 'status_code'),
  temporal_long_request_latency_seconds: histogram(...REQUEST, 'task_queue'),
};

/** Seen in prom-client 15.1.3, lib/metrics: `collectDefaultMetrics` of service/operations.ts. */
export const RUNTIME_METRICS: Known = {
  process_cpu_user_seconds_total: counter(),
  process_cpu_system_seconds_total: counter(),
  process_cpu_seconds_total: counter(),
  process_start_time_seconds: gauge(),
  process_resident_memory_bytes: gauge(),
  process_open_fds: gauge(),
  process_max_fds: gauge(),
  nodejs_eventloop_lag_seconds: gauge(),
  nodejs_eventloop_lag_mean_seconds: gauge(),
  nodejs_eventloop_lag_max_seconds: gauge(),
  nodejs_eventloop_lag_p50_seconds: gauge(),
  nodejs_eventloop_lag_p90_seconds: gauge(),
  nodejs_eventloop_lag_p99_seconds: gauge(),
  nodejs_heap_size_total_bytes: gauge(),
  nodejs_heap_size_used_bytes: gauge(),
  nodejs_external_memory_bytes: gauge(),
  nodejs_gc_duration_seconds: histogram('kind'),
  nodejs_version_info: gauge('version', 'major', 'minor', 'patch'),
};

/**
 * Seen in common/metrics/metric_defs.go and tags.go of Temporal's server 1.31.0. They have no
 * prefix, and counters no `_total`.
 */
export const SERVER_METRICS: Known = {
  service_requests: counter('service_name', 'operation', 'namespace'),
  service_errors: counter('service_name', 'operation', 'namespace'),
  service_latency: histogram('service_name', 'operation', 'namespace'),
  persistence_requests: counter('service_name', 'operation', 'namespace'),
  persistence_errors: counter('service_name', 'operation', 'namespace'),
  persistence_latency: histogram('service_name', 'operation', 'namespace'),
  task_schedule_to_start_latency: histogram('service_name', 'operation', 'namespace', 'taskqueue'),
};

/** Made by Prometheus for each target that it scrapes. */
export const PROMETHEUS_METRICS: Known = { up: gauge() };

/** Labels that Prometheus adds to each series, or the settings of a scrape do. */
export const SCRAPE_LABELS: readonly string[] = ['job', 'instance'];
