/** Dashboard of the processes: requests, runtime, clocks, database, calls to Temporal. */
import { perSecond, quantile, query, shared } from './panels.ts';
import type { Dashboard, Section } from './panels.ts';

const LEGEND = '{{job}} {{instance}}';

const running: Section = {
  title: 'What runs',
  panels: [
    {
      title: 'Processes that answer a scrape',
      unit: 'count',
      rising: '0: the process is gone or cannot be reached. With no worker left no money moves.',
      alert: 'ProcessDown',
      queries: [query('min by (job, instance) (up{job=~"fund.*"})', LEGEND)],
    },
    {
      title: 'Time since processes started',
      unit: 'seconds',
      rising:
        'It rises until the next start. A line that falls to 0 again and again: the process dies and comes back, and its work hardly goes on.',
      alert: 'ProcessRestarts',
      queries: [
        query(
          'min by (job, instance) (time() - process_start_time_seconds{job=~"fund.*"})',
          LEGEND,
        ),
      ],
    },
    {
      title: 'Figures of the database on the page',
      unit: 'count',
      rising:
        '0: this process cannot read them. Missing figures say nothing about the money behind them.',
      alert: 'FiguresMissing',
      queries: [query('min by (job, instance) (svc_metrics_up)', LEGEND)],
    },
    {
      title: 'Holders of each lease',
      unit: 'count',
      rising:
        '1 is right, 2 passes with a hand-over. 0: the loop runs nowhere; sweeps, seals or deliveries stop.',
      alert: 'WorkerGone',
      queries: [query('sum by (lease) (svc_lease_held)', '{{lease}}')],
    },
    {
      title: 'Turns of background loops that failed',
      unit: 'per-second',
      rising:
        'What the loop does is not done by this process: movements may stand still, and alerts that it feeds say nothing.',
      alert: 'LoopFails',
      queries: [query(perSecond('svc_loop_failures_total', 'loop'), '{{loop}}')],
    },
    {
      title: 'Longest turns of background loops under way',
      unit: 'seconds',
      rising:
        'One that only rises hangs: what the loop does stands still, and no other worker takes its lease over.',
      alert: 'LoopHangs',
      queries: [query(shared('svc_loop_turn_seconds', 'loop'), '{{loop}}')],
    },
    {
      title: 'Executors that one worker finds down',
      unit: 'count',
      rising:
        '1 of one worker alone: its network or its files. Phases that it takes fail and are repeated.',
      alert: 'ExecutorUnreachableFromWorker',
      queries: [
        query(
          shared('svc_executor_unreachable', 'instance', 'executor_key'),
          '{{executor_key}} from {{instance}}',
        ),
      ],
    },
    {
      title: 'Clocks against the processes',
      unit: 'seconds',
      rising:
        'Beyond a minute either way new sends to that venue wait; of the database all sends. An API whose own clock is off refuses its callers. A difference that stops nothing is 0.',
      alert: 'ClockOff',
      queries: [
        query('max by (clock) (svc_clock_difference_seconds)', '{{clock}} most'),
        query('min by (clock) (svc_clock_difference_seconds)', '{{clock}} least'),
      ],
    },
    {
      title: 'Days that certificates for Temporal hold',
      unit: 'days',
      rising: 'At 0 no process reaches Temporal: movements under way stand still.',
      alert: 'CertificateEnds',
      queries: [query('min(svc_temporal_certificate_days_left)', 'first to end', 'tls')],
    },
    {
      title: 'Days that certificates for the database hold',
      unit: 'days',
      rising: 'At 0 no process makes a new connection to the database: nothing goes on.',
      alert: 'CertificateEnds',
      queries: [query('min(svc_database_certificate_days_left)', 'first to end', 'database-tls')],
    },
  ],
};

const api: Section = {
  title: 'The API',
  panels: [
    {
      title: 'Requests by route',
      unit: 'per-second',
      rising: 'Callers send more. createMovement is new money; reads move none.',
      queries: [query(perSecond('svc_http_requests_total', 'route'), '{{route}}')],
    },
    {
      title: 'Answers by status',
      unit: 'per-second',
      rising:
        '5xx: a caller does not know whether its movement exists and repeats its request under the same key.',
      alert: 'ApiErrors',
      queries: [query(perSecond('svc_http_requests_total', 'status'), '{{status}}')],
    },
    {
      title: 'Duration of requests',
      unit: 'seconds',
      rising: 'The database or the processes are short of time; callers begin to give up.',
      queries: [
        query(quantile('0.5', 'svc_http_request_duration_seconds_bucket'), 'p50'),
        query(quantile('0.99', 'svc_http_request_duration_seconds_bucket'), 'p99'),
      ],
    },
    {
      title: 'Duration of requests by route',
      unit: 'seconds',
      rising: 'One route alone that rises has a statement that is slow or waits for a lock.',
      queries: [
        query(
          quantile('0.99', 'svc_http_request_duration_seconds_bucket', 'route'),
          '{{route}} p99',
        ),
      ],
    },
    {
      title: 'Requests under work and waiting',
      unit: 'count',
      rising: 'waiting above 0 for long: more processes are needed, or statements are slow.',
      alert: 'ApiGone',
      queries: [query('sum by (state) (svc_http_requests_admitted)', '{{state}}')],
    },
    {
      title: 'Requests refused for overload',
      unit: 'per-second',
      rising: 'A refused create has made no movement. bodies alone: someone sends unsigned bodies.',
      alert: 'Overloaded',
      queries: [query(perSecond('svc_http_overloaded_total', 'reason'), '{{reason}}', 'event')],
    },
    {
      title: 'Requests that were not authenticated',
      unit: 'per-second',
      rising: 'A caller has a wrong key or clock, or someone tries keys.',
      queries: [
        query(perSecond('svc_http_unauthenticated_total', 'reason'), '{{reason}}', 'event'),
      ],
    },
    {
      title: 'Bodies of unknown senders in memory',
      unit: 'bytes',
      rising: 'At 64 MiB in a process further bodies are refused.',
      queries: [query('sum(svc_http_unverified_body_bytes)', 'bytes')],
    },
    {
      title: 'Connections closed unread',
      unit: 'per-second',
      rising: 'A stranger, or a proxy that keeps too many connections, shuts callers out.',
      queries: [query(perSecond('svc_http_connections_dropped_total'), 'connections')],
    },
  ],
};

const runtime: Section = {
  title: 'Runtime',
  panels: [
    {
      title: 'CPU',
      unit: 'share',
      rising: 'Of one core. Near 1 the process is the limit: requests and tasks wait for it.',
      queries: [query(perSecond('process_cpu_seconds_total', 'job', 'instance'), LEGEND)],
    },
    {
      title: 'Memory',
      unit: 'bytes',
      rising: 'A line that never falls back ends with the process killed; its sends are recovered.',
      queries: [query('max by (job, instance) (process_resident_memory_bytes)', LEGEND)],
    },
    {
      title: 'Lag of the event loop, p99',
      unit: 'seconds',
      rising:
        '0.1 s is a loop at rest. Time limits of sends run out in the process itself; outcomes become unknown.',
      queries: [query('max by (job, instance) (nodejs_eventloop_lag_p99_seconds)', LEGEND)],
    },
  ],
};

const database: Section = {
  title: 'Replication of Postgres',
  panels: [
    {
      title: 'Commits wait for a standby',
      unit: 'count',
      rising:
        '1: a failover loses no commit. 0 where replication is set up: a lost primary may take records of sends with it.',
      alert: 'ReplicationLost',
      queries: [query(shared('svc_database_synchronous'), 'synchronous')],
    },
    {
      title: 'Synchronous standbys',
      unit: 'count',
      rising: '0 with synchronous commits: every write waits, and nothing is sent.',
      alert: 'ReplicationLost',
      queries: [query(shared('svc_database_standbys'), 'standbys', 'postgres-standby')],
    },
    {
      title: 'Sessions whose commit waits',
      unit: 'count',
      rising: 'The standby is slow or gone: movements stand still, and no send is lost.',
      alert: 'CommitsWait',
      queries: [query(shared('svc_database_commits_waiting'), 'sessions')],
    },
  ],
};

const calls: Section = {
  title: 'Calls to Temporal',
  panels: [
    {
      title: 'Calls by operation',
      unit: 'per-second',
      rising: 'More runs are started, signalled or listed.',
      queries: [query(perSecond('svc_temporal_requests_total', 'operation'), '{{operation}}')],
    },
    {
      title: 'Calls that failed',
      unit: 'per-second',
      rising:
        'Commands reach their runs late. No command is lost: it stays in the database until a run has applied it.',
      alert: 'RequestsThrottled',
      queries: [
        query(
          perSecond('svc_temporal_request_failures_total', 'operation', 'status_code'),
          '{{operation}}: {{status_code}}',
          'event',
        ),
      ],
    },
  ],
};

export const processes: Dashboard = {
  name: 'processes',
  title: 'Fund movements: processes',
  sections: [running, api, runtime, database, calls],
};
