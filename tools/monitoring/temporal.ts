/** Dashboard of Temporal: its workers as the SDK measures them, its server, and open runs. */
import { perSecond, quantile, query, shared, type Dashboard, type Section } from './panels.ts';

const SCHEDULED_WORKFLOW_TASKS = 'temporal_workflow_task_schedule_to_start_latency_seconds_bucket';
const SCHEDULED_ACTIVITIES = 'temporal_activity_schedule_to_start_latency_seconds_bucket';
const TOO_LARGE = '{failure_reason=~"GrpcMessageTooLarge|PayloadsTooLarge|RequestTooLarge"}';
/** Calls that wait for work on purpose, so that their duration says nothing. */
const NO_LONG_POLLS = '{operation!~"Poll.*|GetWorkflowExecutionHistory"}';
/** Task queues that are there to make calls wait; the server may replace signs in their names. */
const NO_VENUE_QUEUES = '{taskqueue!~"fund.movements.venue.+"}';

const workers: Section = {
  title: 'Workers',
  panels: [
    {
      title: 'Free slots',
      unit: 'count',
      rising: 'Falling to 0: tasks wait in the queue, and movements go on more slowly.',
      alert: 'SlotsUsedUp',
      queries: [
        query(
          'sum by (task_queue, worker_type) (temporal_worker_task_slots_available)',
          '{{task_queue}} {{worker_type}}',
        ),
      ],
    },
    {
      title: 'Slots in use',
      unit: 'count',
      rising: 'More tasks run at a time; of activities mostly executors that answer slowly.',
      alert: 'ActivitySlotsGone',
      queries: [
        query(
          'sum by (task_queue, worker_type) (temporal_worker_task_slots_used)',
          '{{task_queue}} {{worker_type}}',
        ),
      ],
    },
    {
      title: 'Pollers',
      unit: 'count',
      rising: 'Falling to 0: no worker takes tasks from the queue, and no movement goes on.',
      alert: 'PollersGone',
      queries: [
        query(
          'sum by (task_queue, poller_type) (temporal_num_pollers)',
          '{{task_queue}} {{poller_type}}',
        ),
      ],
    },
    {
      title: 'Wait of workflow tasks for a worker, p95',
      unit: 'seconds',
      rising: 'Commands and timers of movements take effect late: more workers are needed.',
      alert: 'WorkflowTasksLate',
      queries: [query(quantile('0.95', SCHEDULED_WORKFLOW_TASKS, 'task_queue'), '{{task_queue}}')],
    },
    {
      title: 'Wait of activities for a worker, p95',
      unit: 'seconds',
      rising: 'Phases start late. A send that comes too late for its window is not made.',
      alert: 'VenueCallsLate',
      queries: [query(quantile('0.95', SCHEDULED_ACTIVITIES, 'task_queue'), '{{task_queue}}')],
    },
    {
      title: 'Duration of workflow tasks, p95',
      unit: 'seconds',
      rising: 'Runs have long histories, or the process is short of CPU.',
      queries: [
        query(
          quantile('0.95', 'temporal_workflow_task_execution_latency_seconds_bucket', 'task_queue'),
          '{{task_queue}}',
        ),
      ],
    },
    {
      title: 'Runs in the sticky cache',
      unit: 'count',
      rising: 'More runs are open. At its limit runs are replayed from their history at each step.',
      queries: [query('sum by (task_queue) (temporal_sticky_cache_size)', '{{task_queue}}')],
    },
  ],
};

const failures: Section = {
  title: 'Failures of workers',
  panels: [
    {
      title: 'Workflow tasks that failed',
      unit: 'per-second',
      rising:
        'NonDeterminismError: a build cannot continue runs that another one started; their movements stand still until it is rolled back.',
      alert: 'Nondeterminism',
      queries: [
        query(
          perSecond('temporal_workflow_task_execution_failed_total', 'failure_reason'),
          '{{failure_reason}}',
          'event',
        ),
      ],
    },
    {
      title: 'Workflow tasks that failed on a message too large',
      unit: 'per-second',
      rising: 'The same message is refused each time: its movement stands still.',
      alert: 'MessageTooLarge',
      queries: [
        query(
          perSecond(`temporal_workflow_task_execution_failed_total${TOO_LARGE}`, 'failure_reason'),
          '{{failure_reason}}',
          'event',
        ),
      ],
    },
    {
      title: 'Activities that failed',
      unit: 'per-second',
      rising: 'Phases are repeated; the fence keeps a repeated one from sending twice.',
      queries: [
        query(
          perSecond('temporal_local_activity_execution_failed_total', 'activity_type'),
          'local {{activity_type}}',
          'event',
        ),
        query(
          perSecond('temporal_activity_execution_failed_total', 'activity_type'),
          '{{activity_type}}',
          'event',
        ),
      ],
    },
    {
      title: 'Runs that cannot go on',
      unit: 'count',
      rising:
        'Workflow tasks of these runs fail again and again, no worker of their build runs, or Temporal fails each look at them.',
      alert: 'RunStuck',
      queries: [query(shared('svc_attention{reason="run_stuck"}'), 'runs')],
    },
    {
      title: "Duration of the workers' requests, p95",
      unit: 'seconds',
      rising: 'The server or the network to it is slow: every step of a movement takes longer.',
      queries: [
        query(
          quantile('0.95', 'temporal_request_latency_seconds_bucket', 'operation'),
          '{{operation}}',
        ),
      ],
    },
    {
      title: "Workers' polls that failed",
      unit: 'per-second',
      rising:
        'TRANSPORT_ERROR, UNAVAILABLE: the worker does not reach Temporal, although its pollers stay. UNAUTHENTICATED, PERMISSION_DENIED: Temporal refuses it.',
      alert: 'TemporalAway',
      queries: [
        query(
          perSecond('temporal_long_request_failure_total', 'operation', 'status_code'),
          '{{operation}}: {{status_code}}',
          'event',
        ),
      ],
    },
    {
      title: "Workers' requests that failed",
      unit: 'per-second',
      rising:
        'RESOURCE_EXHAUSTED: the server slows the workers down. Others: it cannot be reached.',
      alert: 'RequestsThrottled',
      queries: [
        query(
          perSecond('temporal_request_failure_total', 'operation', 'status_code'),
          '{{operation}}: {{status_code}}',
          'event',
        ),
      ],
    },
  ],
};

const builds: Section = {
  title: 'Builds',
  panels: [
    {
      title: 'Open runs by build',
      unit: 'count',
      rising:
        'Runs of a draining build that do not fall: it must keep its workers, or their movements stand still.',
      alert: 'BuildStays',
      queries: [
        query(
          shared('svc_build_open_runs', 'deployment', 'build', 'status'),
          '{{build}} of {{deployment}} ({{status}})',
          'versioned',
        ),
      ],
    },
  ],
};

const server: Section = {
  title: "Temporal's server",
  panels: [
    {
      title: 'Services that answer a scrape',
      unit: 'count',
      rising:
        '0: this part of the server is gone. Without frontend, history and matching no movement goes on.',
      alert: 'TemporalServerDown',
      queries: [
        query('min by (job, instance) (up{job=~"temporal.*"})', '{{job}} {{instance}}', 'server'),
      ],
    },
    {
      title: 'Wait of tasks until a worker takes them, p95',
      unit: 'seconds',
      rising: 'Steps of movements start late: workers are too few, or gone from a task queue.',
      alert: 'TemporalTasksLate',
      queries: [
        query(
          quantile('0.95', `task_schedule_to_start_latency_bucket${NO_VENUE_QUEUES}`),
          'all queues but those of venues',
          'server',
        ),
      ],
    },
    {
      title: 'Requests',
      unit: 'per-second',
      rising: 'More work for the server; frontend is what workers and processes send.',
      queries: [query(perSecond('service_requests', 'service_name'), '{{service_name}}', 'server')],
    },
    {
      title: 'Errors',
      unit: 'per-second',
      rising: 'Steps of movements are repeated until the server answers.',
      alert: 'TemporalServiceErrors',
      queries: [
        query(
          perSecond('service_errors', 'service_name', 'operation'),
          '{{service_name}} {{operation}}',
          'server',
          'event',
        ),
      ],
    },
    {
      title: 'Latency, p95',
      unit: 'seconds',
      rising: 'Every step of a movement takes longer. Long polls are left out.',
      queries: [
        query(
          quantile('0.95', `service_latency_bucket${NO_LONG_POLLS}`, 'service_name'),
          '{{service_name}}',
          'server',
        ),
      ],
    },
    {
      title: 'Requests to its database',
      unit: 'per-second',
      rising: 'More steps, or a loop of repeated ones.',
      queries: [
        query(perSecond('persistence_requests', 'service_name'), '{{service_name}}', 'server'),
      ],
    },
    {
      title: 'Errors of its database',
      unit: 'per-second',
      rising: 'History cannot be written: movements stand still until its database answers.',
      alert: 'TemporalPersistenceErrors',
      queries: [
        query(
          perSecond('persistence_errors', 'service_name', 'operation'),
          '{{service_name}} {{operation}}',
          'server',
          'event',
        ),
      ],
    },
    {
      title: 'Latency of its database, p95',
      unit: 'seconds',
      rising: 'Its database is the limit, or the network to it.',
      queries: [
        query(
          quantile('0.95', 'persistence_latency_bucket', 'service_name'),
          '{{service_name}}',
          'server',
        ),
      ],
    },
  ],
};

export const temporal: Dashboard = {
  name: 'temporal',
  title: 'Fund movements: Temporal',
  sections: [workers, failures, builds, server],
};
