/**
 * The contract of the metrics: every metric that the service serves, with what reads it can rely
 * on. The table of docs/operations.md is made from it, and test/monitoring/names.test.ts compares
 * it with the code, the dashboards and the alert rules.
 */
import { ATTENTION_REASONS } from '../../domain/attention-reasons.ts';
import { AUTO_APPROVE_OUTCOMES } from '../../domain/auto-approve/result.ts';
import { CUTOVER_MODES } from '../../domain/cutover.ts';
import { PHASES } from '../../domain/messages.ts';
import { TRANSFER_STATES } from '../../domain/states/capital-transfer.ts';
import { MOVEMENT_STATES } from '../../domain/states/movement.ts';
import { LOOPS } from '../../platform/loop.ts';

export type MetricType = 'counter' | 'gauge' | 'histogram';
/** `1` is a plain number. `coins` are of a chain's own coin, `amount` is in the labels' asset. */
export type Unit = '1' | 'seconds' | 'bytes' | 'days' | 'coins' | 'amount';
/** The values that a label can have; `open` where they come from data. */
export type LabelValues = readonly string[] | 'open';

export interface Metric {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: Unit;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** `worker` and `api`: processes with these duties. */
  readonly servedBy: 'every' | 'worker' | 'api';
  /**
   * `database`: read at each scrape from the database, the same on every process, and missing
   * while `svc_metrics_up` is 0. `process`: of the process alone.
   */
  readonly source: 'process' | 'database';
  /** When there is a series, as the end of "Served …"; null: always. */
  readonly condition: string | null;
  /** Markdown, with links that start in docs/. */
  readonly meaning: string;
}

/** An entry without its name; what is left out is a plain number of every process, always there. */
type Entry = Pick<Metric, 'type' | 'meaning'> & Partial<Omit<Metric, 'name' | 'type' | 'meaning'>>;

/** Status names of gRPC, by code, without OK: the values of `status_code` of failures. */
export const GRPC_FAILURES = [
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
] as const;

const REQUEST = {
  method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'other'],
  route: 'open',
  status: 'open',
} as const;
const LANE = { signer_key: 'open', address: 'open', chain_id: 'open' } as const;

const OF_PROCESSES: Readonly<Record<string, Entry>> = {
  svc_http_requests_total: {
    type: 'counter',
    labels: REQUEST,
    servedBy: 'api',
    condition: 'after the first request',
    meaning: 'Answered requests. `route` is the id of an operation.',
  },
  svc_http_request_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: REQUEST,
    servedBy: 'api',
    condition: 'after the first request',
    meaning: 'Time from the first byte of a request to the end of its answer.',
  },
  svc_http_requests_admitted: {
    type: 'gauge',
    labels: { state: ['running', 'waiting'] },
    servedBy: 'api',
    meaning:
      'Requests that are worked on (`running`, at most 64) and that wait for their turn (`waiting`, at most 1,000).',
  },
  svc_http_overloaded_total: {
    type: 'counter',
    labels: { reason: ['full', 'late', 'database', 'bodies', 'operator'] },
    servedBy: 'api',
    condition: 'after the first one',
    meaning:
      'Requests answered 503 `overloaded`: no room to wait (`full`), waited 5 s (`late`), no connection was free (`database`), bodies of unknown senders took more than 64 MiB (`bodies`: somebody sends without a signature), an operator of the dashboard sent too many in a second (`operator`). `full` and `late` call for more processes; `database` alone for a look at slow statements and held locks, or a larger `SVC_DATABASE_POOL_SIZE`.',
  },
  svc_http_unverified_body_bytes: {
    type: 'gauge',
    unit: 'bytes',
    servedBy: 'api',
    meaning:
      'Bytes of bodies in memory whose sender is not known yet, 64 MiB at most. Many are the work of a stranger.',
  },
  svc_http_connections_dropped_total: {
    type: 'counter',
    meaning:
      'Connections closed unread because a process had 2,048: the work of a stranger, or of a proxy that keeps too many.',
  },
  svc_http_unauthenticated_total: {
    type: 'counter',
    labels: {
      reason: [
        'header_missing',
        'header_repeated',
        'header_malformed',
        'key_unknown',
        'timestamp_out_of_range',
        'signature_mismatch',
        'nonce_replayed',
        'nonce_not_issued',
        'nonce_expired',
        'key_revoked',
        'session_unknown',
        'session_repeated',
        'session_cross_site',
      ],
    },
    servedBy: 'api',
    condition: 'after the first one',
    meaning: 'Requests that were not authenticated.',
  },
  svc_approval_wait_seconds: {
    type: 'histogram',
    unit: 'seconds',
    servedBy: 'api',
    meaning: 'How long movements waited until a caller approved them.',
  },
  svc_auto_approvals_total: {
    type: 'counter',
    labels: { outcome: AUTO_APPROVE_OUTCOMES, reason: 'open' },
    servedBy: 'api',
    condition: 'after the first one',
    meaning: 'Decisions of creates about an automatic approval.',
  },
  svc_phase_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: {
      phase: PHASES,
      executor_kind: ['local', 'remote', 'task_queue', 'unregistered'],
      outcome: ['done', 'failed', 'unknown', 'not_yet', 'recover', 'error'],
    },
    servedBy: 'worker',
    condition: 'after the first phase',
    meaning:
      'Time from the start of a phase that called its executor until the answer was recorded. Phases that one write records count as one.',
  },
  svc_audit_chain_position: {
    type: 'gauge',
    servedBy: 'worker',
    meaning:
      'Position up to which [the audit trail](#the-audit-trail) is sealed, as this process last saw it.',
  },
  svc_audit_sealed_total: {
    type: 'counter',
    servedBy: 'worker',
    meaning: 'Audit rows that this process sealed.',
  },
  svc_audit_foreign_rows_total: {
    type: 'counter',
    servedBy: 'worker',
    meaning:
      'Audit rows that no process with the key wrote. Several processes may count the same row.',
  },
  svc_retention_removed_total: {
    type: 'counter',
    labels: { table: ['commands', 'callbacks', 'dashboard_sessions', 'console_events'] },
    servedBy: 'worker',
    meaning:
      'Rows that were removed because [their days were over](#what-is-kept-and-for-how-long).',
  },
  svc_lease_held: {
    type: 'gauge',
    labels: { lease: 'open' },
    servedBy: 'worker',
    meaning:
      '1 on the worker that does for all [what one alone has to do](processes.md#loops), 0 on the others.',
  },
  svc_loop_failures_total: {
    type: 'counter',
    labels: { loop: LOOPS },
    condition: 'for loops that the process runs',
    meaning:
      'Turns of [a background loop](processes.md#loops) that failed. `balances` are those of all venues.',
  },
  svc_loop_failing_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { loop: LOOPS },
    condition: 'for loops that the process runs',
    meaning:
      'Time from the first to the last failed turn of the loop, with no success in between; 0 after a success. It grows with failures alone. One that comes more than 15 minutes after the last (two pauses, where the loop has longer ones) counts as a first one.',
  },
  svc_loop_turn_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { loop: LOOPS },
    condition: 'for loops that the process runs',
    meaning:
      'Time for which the turn of the loop that now runs has lasted; 0 between turns. Of several loops with one name (`balances`) it is the longest. What a turn starts and does not wait for is no part of it.',
  },
  svc_executor_unreachable: {
    type: 'gauge',
    labels: { executor_key: 'open' },
    servedBy: 'worker',
    condition: 'after the first check',
    meaning:
      '1 where the last health check by this worker found an executor down, whatever other workers found (`svc_executor_down`) and also while it is switched off; 0 otherwise.',
  },
  svc_build_open_runs: {
    type: 'gauge',
    labels: {
      deployment: 'open',
      build: 'open',
      status: ['created', 'inactive', 'current', 'ramping', 'draining', 'drained', 'unknown'],
    },
    servedBy: 'worker',
    condition: 'where workers are versioned, by the worker that holds the lease `draining-builds`',
    meaning:
      'Open runs of a build of the workers, by what the server does with it. Those of a draining build fall to 0.',
  },
  svc_clock_difference_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { clock: 'open' },
    condition:
      'while the clock can be read, and after that as long as its last difference stops sends; `/readyz` names those that cannot be read',
    meaning:
      'How far a clock is ahead of the process: the `database`’s, and on workers those of venues (`perp`, the venue key of a chain or of an account of an exchange). Beyond 60 either way new sends to that venue wait (`CLOCK_DIFFERENCE`), of the database all sends. 0 for a difference that stops nothing: a chain’s newest block that is behind, and any of a developer’s own chain.',
  },
  svc_signer_native_balance: {
    type: 'gauge',
    unit: 'coins',
    labels: LANE,
    servedBy: 'worker',
    condition: 'while the chain answers',
    meaning: 'Balance of a signer in the chain’s own coin, read every 30 s at most.',
  },
  svc_chain_gas_cost_limit: {
    type: 'gauge',
    unit: 'coins',
    labels: { chain_id: 'open' },
    condition: 'where the venues file has a chain',
    meaning:
      'The most that one transaction may cost its signer in the chain’s own coin (`max_gas_cost_wei`). A signer whose `svc_signer_native_balance` is below a few of these runs out of gas soon. A raise for one nonce lane does not change it.',
  },
  svc_temporal_requests_total: {
    type: 'counter',
    labels: { operation: 'open' },
    condition: 'after the first request',
    meaning:
      'Requests of this process’s client to Temporal, retries included; what the worker itself polls and answers is in the SDK’s metrics. `operation` is the name of a method of Temporal’s API.',
  },
  svc_temporal_request_failures_total: {
    type: 'counter',
    labels: { operation: 'open', status_code: GRPC_FAILURES },
    condition: 'after the first one',
    meaning:
      'Those of them that failed, by gRPC status. `NOT_FOUND` is no fault: a run that is closed is looked for too.',
  },
  svc_temporal_certificate_days_left: {
    type: 'gauge',
    unit: 'days',
    condition: 'where there is one',
    meaning:
      'Days until the first of the certificates for Temporal (the client’s, or its CA) is over. Alert below a week.',
  },
  svc_database_certificate_days_left: {
    type: 'gauge',
    unit: 'days',
    condition: 'where its address names one',
    meaning:
      'Days until the first of the certificates for the database (`sslcert`, or `sslrootcert` with `verify-full`) is over. Alert below a week.',
  },
  svc_metrics_up: {
    type: 'gauge',
    meaning:
      '0 when the figures of the database could not be read; they are missing then, never old.',
  },
};

const OF_DATABASE: Readonly<Record<string, Entry>> = {
  svc_movements: {
    type: 'gauge',
    labels: { state: MOVEMENT_STATES },
    condition: 'for states in which there is one',
    meaning: 'Movements by state.',
  },
  svc_capital_transfers: {
    type: 'gauge',
    labels: { state: TRANSFER_STATES },
    condition: 'for states in which there is one',
    meaning: 'Capital transfers by state.',
  },
  svc_attention: {
    type: 'gauge',
    labels: { reason: ATTENTION_REASONS },
    meaning:
      'Movements that need a person, by reason; one may have several. `run_stuck` and `clock_difference` count capital transfers too. A worker notes the reasons that no state shows, so these lag by its turns. At most 500 each are counted of every noted reason (or combination of reasons, where a movement has several), of stuck runs, of nodes with an unknown outcome, of late landings and of what ended badly within a week.',
  },
  svc_approval_oldest_seconds: {
    type: 'gauge',
    unit: 'seconds',
    meaning: 'Age of the oldest movement that waits for its approval; 0 when none does.',
  },
  svc_callbacks: {
    type: 'gauge',
    labels: { status: ['pending', 'dead_letter'] },
    meaning: 'Callbacks and messages of webhooks that are not delivered.',
  },
  svc_relay_lag_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { relay: ['commands', 'transfers', 'callbacks', 'webhooks'] },
    meaning:
      'Age of the oldest command that no run has applied, of the last step of the oldest capital transfer with a change that no run has seen (`transfers`), and of the oldest callback and the oldest message of a webhook that are still to be delivered; 0 when none is. A wake of a transfer is such a change and no step: `transfers` may then be longer than the change has waited.',
  },
  svc_nodes_unanswered: {
    type: 'gauge',
    meaning:
      'Nodes that have not ended and whose last call brought no usable result: no answer, or one that only says to wait.',
  },
  svc_nodes_unanswered_oldest_seconds: {
    type: 'gauge',
    unit: 'seconds',
    meaning:
      'For how long calls about the oldest such node have brought none; 0 when there is no such node.',
  },
  svc_late_looks_overdue: {
    type: 'gauge',
    meaning:
      'Abandoned nodes whose next look has been due for more than an hour, 500 at most: no worker can make it ([what to do](runbook.md#an-abandoned-send-has-landed)).',
  },
  svc_late_looks_failing: {
    type: 'gauge',
    meaning:
      'Abandoned nodes whose looks have got no answer, or one that proves nothing, for more than an hour, at most 500 ([what to do](runbook.md#an-abandoned-send-has-landed)).',
  },
  svc_audit_unsealed_oldest_seconds: {
    type: 'gauge',
    unit: 'seconds',
    meaning:
      'Age of the oldest audit row behind the newest sealed one that has no seal; 0 when all are sealed. A row that is committed late, behind a sealed one, is not counted.',
  },
  svc_cutover_mode: {
    type: 'gauge',
    labels: { mode: CUTOVER_MODES },
    meaning: '1 for the present mode of the cutover switch, 0 for the others.',
  },
  svc_lane_open_nonces: {
    type: 'gauge',
    labels: LANE,
    condition: 'once the signer has sent on the chain',
    meaning:
      'Transaction nonces that are claimed and in no block. Each signer’s view in `GET /v3/signers` shows the same, the caps of fees with who raised them for the lane until when (`nonce_lane.raise_caps` in the audit), and how the chain [becomes final](venues.md#when-a-block-is-final).',
  },
  svc_lane_oldest_open_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: LANE,
    condition: 'once the signer has sent on the chain',
    meaning: 'Age of the oldest such nonce; 0 when there is none. A lane where it grows waits.',
  },
  svc_lane_unfinal_nonces: {
    type: 'gauge',
    labels: LANE,
    condition: 'once the signer has sent on the chain',
    meaning: 'Nonces that are mined and not final.',
  },
  svc_lane_stuck: {
    type: 'gauge',
    labels: LANE,
    condition: 'once the signer has sent on the chain',
    meaning:
      '1 where the transaction that is to use up a nonce can be neither signed nor paid for ([what to do](runbook.md#a-nonce-lane-is-stuck)).',
  },
  svc_perp_agent_left_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { strategy_id: 'open', agent_name: 'open' },
    condition: 'for at most 100 active agents of the perps venue, those that end first',
    meaning:
      'Time until an active agent of the perps venue ends (`valid_until`); 0 after that, until it is marked as expired. Of the 20 newest agents of each strategy.',
  },
  svc_perp_agents_failing: {
    type: 'gauge',
    meaning:
      'Names of agents of the perps venue whose newest wallet is pending for more than ten minutes with an error, is active with an error that has stood for as long, or was refused or has expired within a week ([what to do](runbook.md#perpagentneedsrenewal)).',
  },
  svc_reservations_held: {
    type: 'gauge',
    unit: 'amount',
    labels: { venue: 'open', account_type: 'open', asset: 'open' },
    condition: 'once something was held of the pool',
    meaning: 'Amount that movements hold of a pool.',
  },
  svc_balance_age_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: { venue: 'open' },
    condition:
      'for bound venues, by processes that can read them; before balances were ever stored, only while reads fail',
    meaning:
      'Age of the newest balances of a venue. Above `SVC_BALANCE_STALE_THRESHOLD_SECONDS` no new hold is taken there. Where none were ever stored, it is the time from the first to the last failed read by the process. An account that has always been empty is read and has none.',
  },
  svc_executor_down: {
    type: 'gauge',
    labels: { executor_key: 'open' },
    condition: 'for executors that are switched on and were checked within two hours',
    meaning:
      '1 while an executor is down for every worker that checks it, each `SVC_REGISTRY_HEALTH_INTERVAL_SECONDS`; 0 otherwise. What a worker found up [stands for two of its turns](processes.md#loops) against other workers.',
  },
  svc_withdrawal_quota_left: {
    type: 'gauge',
    unit: 'amount',
    labels: { venue: 'open', unit: 'open' },
    condition:
      'where the exchange shows it, until it is older than `SVC_BALANCE_STALE_THRESHOLD_SECONDS`',
    meaning:
      'What an account of an exchange may still withdraw, in an asset or `USD`, as its last balances showed it.',
  },
  svc_database_synchronous: {
    type: 'gauge',
    meaning:
      '1 where commits of the service wait for a standby: `synchronous_standby_names` is set, and `synchronous_commit` is neither `off` nor `local`.',
  },
  svc_database_standbys: {
    type: 'gauge',
    condition: 'where the database role may read the statistics of all sessions (`pg_monitor`)',
    meaning: 'Synchronous standbys that stream at present.',
  },
  svc_database_commits_waiting: {
    type: 'gauge',
    meaning:
      'Sessions whose commit waits for a standby at present: those of the service’s role, and all where the role may read the statistics of all sessions.',
  },
};

/** Every metric of the service, in the order of the documentation. */
export const METRICS: readonly Metric[] = [
  ...metricsOf(OF_PROCESSES, 'process'),
  ...metricsOf(OF_DATABASE, 'database'),
];

function metricsOf(
  entries: Readonly<Record<string, Entry>>,
  source: Metric['source'],
): readonly Metric[] {
  return Object.entries(entries).map(([name, entry]) => ({
    name,
    unit: '1',
    labels: {},
    servedBy: 'every',
    condition: null,
    source,
    ...entry,
  }));
}
