/**
 * Every setting of the service, once: its name in the environment, its field in `Config`, how it is
 * read, its default, and one sentence. Derived from this table: `Config`, the check of names, the
 * redaction of logs, `fundadmin config check` and docs/configuration.md (`npm run docs:tables`).
 */
import { SIGNER_BACKENDS } from '../../domain/signer.ts';
import { STRATEGY_PRIORITIES, STRATEGY_SHARES } from './by-strategy.ts';
import {
  BUILD_ID,
  CALLBACK_SECRETS,
  DATABASE_URL,
  DEPLOYMENT_NAME,
  HEADERS,
  HOST_AND_PORT,
  HOSTS,
  ORIGIN,
  PAYLOAD_KEYS,
  SECRETS_KEYS,
  SHARE,
} from './kinds.ts';
import {
  FILE,
  FLAG,
  oneOf,
  optional,
  PART,
  required,
  shaped,
  standard,
  TEXT,
  WEB_ADDRESS,
  whole,
  type Setting,
} from './setting.ts';

const PORT = whole(0, 65_535);
const SECRET = { secret: true } as const;
const OF_API = { openedBy: ['api'] } as const;
const OF_WORKER = { openedBy: ['worker'] } as const;

const LISTENING = {
  SVC_HOST: standard(
    'host',
    TEXT,
    '127.0.0.1',
    'Address that the API listens on; without authentication a loopback one.',
  ),
  SVC_PORT: standard('port', PORT, '8100', 'Port of the API; 0 takes any free one.'),
  SVC_API_PREFIX: standard(
    'apiPrefix',
    shaped('path', /^(\/[A-Za-z0-9._-]+)+$/, 'must look like /v3'),
    '/v3',
    'What every path of the API begins with, `/healthz` excepted.',
  ),
  SVC_OPS_HOST: standard(
    'opsHost',
    TEXT,
    '127.0.0.1',
    'Address of the operations listener, whose requests are never signed.',
  ),
  SVC_OPS_PORT: standard(
    'opsPort',
    PORT,
    '9465',
    'Port of the operations listener; 0 takes any free one.',
  ),
  SVC_SDK_METRICS_PORT: optional(
    'sdkMetricsPort',
    whole(1, 65_535),
    "Port on which a process with a worker serves the metrics of Temporal's SDK under `/metrics`, beside the operations listener; unset: none.",
    OF_WORKER,
  ),
  SVC_ALLOWED_HOSTS_CSV: optional(
    'allowedHosts',
    HOSTS,
    'Names under which requests without a signature are answered, beside loopback ones, the address that they came to and the one listened on.',
  ),
};

const DEPENDENCIES = {
  SVC_DATABASE_URL: required(
    'databaseUrl',
    DATABASE_URL,
    'Where Postgres is, with user and password; on another machine with `sslmode` ([databases](operations.md#databases)).',
    SECRET,
  ),
  SVC_DATABASE_OWNER_URL: optional(
    PART,
    DATABASE_URL,
    'The same database as the owner of its tables and past any pooler. Only `fundadmin database` uses it; no process of the service opens it.',
    { ...SECRET, openedBy: [] },
  ),
  SVC_DATABASE_POOL_SIZE: standard(
    'databasePoolSize',
    whole(1, 200),
    '20',
    'Connections to Postgres that a process holds at most.',
  ),
  SVC_DATABASE_POOLER: standard(
    'databasePooler',
    oneOf('none', 'transaction'),
    'none',
    'What stands before Postgres: `transaction` for a pooler that gives each transaction another session, such as pgbouncer; then nothing is prepared, and settings of sessions are the role’s.',
  ),
  SVC_DATABASE_CONNECT_TIMEOUT_SECONDS: standard(
    'databaseConnectSeconds',
    whole(1, 60),
    '5',
    'How long making a connection to Postgres may take, all servers of the address together, and how long a free one is waited for.',
  ),
  SVC_DATABASE_STATEMENT_TIMEOUT_SECONDS: standard(
    'databaseStatementSeconds',
    whole(5, 3_600),
    '60',
    'How long a statement may take before Postgres ends it; 5 s later its connection is closed.',
  ),
  SVC_DATABASE_IDLE_IN_TRANSACTION_SECONDS: standard(
    'databaseIdleInTransactionSeconds',
    whole(5, 3_600),
    '60',
    'How long a session may leave a transaction open before Postgres ends it.',
  ),
  SVC_DATABASE_KEEP_ALIVE_SECONDS: standard(
    'databaseKeepAliveSeconds',
    whole(1, 600),
    '10',
    'Silence on a connection before keep-alive probes; after ten unanswered probes, one a second, it is closed.',
  ),
  SVC_TEMPORAL_ADDRESS: optional(
    PART,
    HOST_AND_PORT,
    "Where Temporal's server is; else as `TEMPORAL_ADDRESS` or the profile says, else `127.0.0.1:7233`.",
  ),
  SVC_TEMPORAL_NAMESPACE: optional(
    PART,
    TEXT,
    'Namespace of the runs; deployments that share a server need one each. Else as `TEMPORAL_NAMESPACE` or the profile says, else `default`.',
  ),
  SVC_TEMPORAL_CONFIG_FILE: optional(
    PART,
    FILE,
    'Profiles of Temporal in TOML; none is read unless it is named, here or as `TEMPORAL_CONFIG_FILE`.',
  ),
  SVC_TEMPORAL_PROFILE: optional(
    PART,
    TEXT,
    'Which profile of that file; else as `TEMPORAL_PROFILE` says, else `default`.',
  ),
  SVC_TEMPORAL_TLS: optional(
    PART,
    FLAG,
    'Whether the connection to Temporal is encrypted; unset, it is where a certificate, a CA, a server name or an API key is configured.',
  ),
  SVC_TEMPORAL_TLS_CA_FILE: optional(
    PART,
    FILE,
    "The CA of Temporal's certificate, in PEM; unset trusts the system's.",
  ),
  SVC_TEMPORAL_TLS_CERT_FILE: optional(
    PART,
    FILE,
    'Client certificate for Temporal, in PEM, with its chain.',
  ),
  SVC_TEMPORAL_TLS_KEY_FILE: optional(PART, FILE, 'Private key of that certificate, in PEM.'),
  SVC_TEMPORAL_TLS_SERVER_NAME: optional(
    PART,
    TEXT,
    "Name that Temporal's certificate is checked for, where it is not that of the address.",
  ),
  SVC_TEMPORAL_API_KEY: optional(
    PART,
    TEXT,
    'API key of Temporal Cloud, or of a proxy that takes one as `Authorization: Bearer`.',
    SECRET,
  ),
  SVC_TEMPORAL_HEADERS: optional(
    PART,
    HEADERS,
    'gRPC headers that go with every request to Temporal.',
    SECRET,
  ),
  SVC_TEMPORAL_DEPLOYMENT_NAME: optional(
    PART,
    DEPLOYMENT_NAME,
    'Name of the deployment under which workers register their build, so that a run stays on the build that it started on ([upgrading](upgrading.md#two-builds-at-work)); else as `TEMPORAL_DEPLOYMENT_NAME` says. Never changed while runs are open: workers drain only builds of their own deployment. Unset with the build id, workers have no build.',
  ),
  SVC_TEMPORAL_BUILD_ID: optional(
    PART,
    BUILD_ID,
    'The build of this process, another one for each release; else as `TEMPORAL_WORKER_BUILD_ID` says.',
  ),
  SVC_TEMPORAL_UI_URL: standard(
    'temporalUiUrl',
    WEB_ADDRESS,
    'http://127.0.0.1:8233',
    'Where people reach the Temporal UI; links to runs begin with it.',
  ),
  SVC_PAYLOAD_KEYS: optional(
    'payloadKeys',
    PAYLOAD_KEYS,
    'Keys that encrypt what Temporal stores: the first encrypts, all decrypt; none leaves it readable.',
    SECRET,
  ),
  SVC_WORKFLOW_CALL_STACKS: standard(
    'workflowCallStacks',
    FLAG,
    'false',
    'Lets the Temporal UI show where a run waits, at the cost of more CPU in workers.',
  ),
  SVC_COMMAND_RETENTION_DAYS: standard(
    'commandRetentionDays',
    whole(1, 10_000),
    '30',
    'Days that the note of a command is kept that its run has applied. The audit trail and the timeline keep the command itself.',
  ),
};

const PROCESS = {
  SVC_EDITION: standard(
    'edition',
    oneOf('commercial', 'free'),
    'commercial',
    'Which surfaces are registered; `free` leaves out the commercial ones.',
  ),
  SVC_WORKERS_ENABLED: standard(
    'workersEnabled',
    FLAG,
    'true',
    'Whether a process of role `all` or `worker` takes work.',
  ),
  SVC_WORKER_SLOTS: standard(
    'workerSlots',
    whole(1, 1_000),
    '200',
    'Activities that a worker runs at once; each waits for its executor ([operations](operations.md#how-many-calls-at-once)).',
  ),
  SVC_STRATEGY_SHARES_CSV: optional(
    'strategyShares',
    STRATEGY_SHARES,
    'How much of the workers each strategy gets while movements of several wait; `*` stands for every other strategy, and an unnamed one counts 1. Unset with the priorities, all wait in one line ([operations](operations.md#whose-turn)).',
  ),
  SVC_STRATEGY_PRIORITIES_CSV: optional(
    'strategyPriorities',
    STRATEGY_PRIORITIES,
    'Strategies whose movements go before (1, 2) or after (4, 5) the others (3), whatever their shares.',
  ),
  SVC_DRAIN_SECONDS: standard(
    'drainSeconds',
    whole(0, 600),
    '10',
    'How long a process that stops still answers requests, while readiness says `draining`.',
  ),
  SVC_LOG_LEVEL: standard(
    'logLevel',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'The least important lines that are still written; no level writes secrets.',
  ),
  SVC_TRACING_OTLP_URL: optional(
    PART,
    WEB_ADDRESS,
    'Collector that receives traces, as `…/v1/traces`; unset turns tracing off.',
  ),
  SVC_TRACING_OTLP_HEADERS: optional(
    PART,
    HEADERS,
    'Headers for the collector, for example the one that authenticates.',
    SECRET,
  ),
  SVC_TRACING_SAMPLE_RATIO: standard(
    PART,
    SHARE,
    '1',
    'Share of traces kept of those that begin here; a caller’s own decision is followed.',
  ),
};

/**
 * Largest value of the setting for clock skew, in seconds. Requests with a timestamp further away
 * are refused, so a used nonce is stored for at most twice this time.
 */
export const LARGEST_SKEW_SECONDS = 3_600;

const CALLERS = {
  SVC_AUTH_ENABLED: standard(
    'authEnabled',
    FLAG,
    'true',
    'Whether requests must be signed; `false` makes every caller admin, on loopback only.',
  ),
  SVC_AUTH_MAX_SKEW_SECONDS: standard(
    'authMaxSkewSeconds',
    whole(1, LARGEST_SKEW_SECONDS),
    '300',
    'How far the timestamp of a signed request may be from this clock.',
  ),
  SVC_SECRETS_KEY: optional(
    'secretsKeys',
    SECRETS_KEYS,
    'Keys that encrypt the secrets of callers in the database, and vouch for audit rows: the first encrypts, all decrypt.',
    { ...SECRET, ...OF_API, openedWithout: 'SVC_AUDIT_KEY' },
  ),
  SVC_AUDIT_KEY: optional(
    'auditKeys',
    SECRETS_KEYS,
    'Keys that vouch for audit rows, as `fundadmin keys audit-key` derives them from `SVC_SECRETS_KEY`: with it a worker does without that one. The first vouches, all are believed; unset they are derived.',
    SECRET,
  ),
  SVC_RATE_LIMIT_ENABLED: standard(
    PART,
    FLAG,
    'true',
    'Whether callers are limited; without authentication none is.',
  ),
  SVC_RATE_LIMIT_SHARED: standard(
    'rateLimitShared',
    FLAG,
    'false',
    'Whether all API processes count the requests of a key together, in the database; else each counts alone.',
  ),
  SVC_RATE_LIMIT_READ_RPM: standard(
    'rateLimitReadRpm',
    whole(1, 1_000_000),
    '300',
    'Requests a minute of a key with the role `agent`.',
  ),
  SVC_RATE_LIMIT_WRITE_RPM: standard(
    'rateLimitWriteRpm',
    whole(1, 1_000_000),
    '60',
    'Requests a minute of a key with the role `admin` or `operator`.',
  ),
};

const MOVEMENTS = {
  SVC_APPROVAL_TTL_SECONDS: standard(
    'approvalTtlSeconds',
    whole(1, 604_800),
    '7200',
    'How long a movement waits for its approval unless its request says.',
  ),
  SVC_AUTO_APPROVE_ENABLED: standard(
    'autoApproveEnabled',
    FLAG,
    'false',
    'Whether new movements with a strategy may be approved without a person.',
  ),
  SVC_AUTO_APPROVE_DRY_RUN: standard(
    'autoApproveDryRun',
    FLAG,
    'false',
    'Whether policies only tell what they would have approved; for the commercial edition.',
  ),
  SVC_REGISTRY_FILE: optional(
    'registryFile',
    FILE,
    'JSON file that declares remote and task-queue executors and signers.',
  ),
  SVC_VENUES_FILE: optional(
    'venuesFile',
    FILE,
    'JSON file that declares venues and the accounts held there.',
  ),
  SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: standard(
    'healthIntervalSeconds',
    whole(1, 3_600),
    '30',
    'Pause between two looks at the health of executors and the identity of signers.',
  ),
  SVC_LOCAL_SIGNER_BACKEND: optional(
    'signerBackend',
    oneOf(...SIGNER_BACKENDS),
    'Backend of signers in the registry file that name none; `local` moreover says that this is development, and nowhere else may a key lie in a file.',
  ),
  SVC_LOCAL_SIGNER_FORCED: standard(
    'localSignersForced',
    FLAG,
    'false',
    'Takes keys in files also where the API listens, or a chain is, beyond this machine.',
  ),
  SVC_CAPITAL_TRANSFER_PENDING_TIMEOUT_SECONDS: standard(
    'transferPendingSeconds',
    whole(1, 604_800),
    '900',
    'How long a provider may take to confirm a capital transfer before a person must decide, and how long one may wait for its first send before it fails.',
  ),
  SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: standard(
    'unansweredSeconds',
    whole(1, 604_800),
    '900',
    'How long the outcome of a send may stay unknown before a person must decide; the service keeps looking.',
  ),
  SVC_VENUE_WAIT_ATTENTION_SECONDS: standard(
    'venueWaitAttentionSeconds',
    whole(1, 604_800),
    '900',
    'How long a node may wait for a venue that does not pay out at present, or for its quota, before a person is shown it; the service keeps checking.',
  ),
  SVC_UNPROVEN_ASK_SECONDS: standard(
    'unhurriedSeconds',
    whole(1, 3_600),
    '60',
    'Pause between two looks at a send that waits for a person.',
  ),
  SVC_BALANCE_STALE_THRESHOLD_SECONDS: standard(
    'balanceStaleSeconds',
    whole(1, 86_400),
    '300',
    'Age from which a balance counts as stale.',
  ),
  SVC_BRIDGE_SNAPSHOT_MAX_AGE_SECONDS: standard(
    'bridgeSnapshotMaxAgeSeconds',
    whole(1, 604_800),
    '3600',
    'Age from which the snapshot of a chain of the bridge registry counts as stale.',
  ),
  SVC_LANE_INTERVAL_SECONDS: standard(
    'laneIntervalSeconds',
    whole(1, 3_600),
    '5',
    'Pause between two looks at the nonces of each signer that no final block has settled.',
  ),
  SVC_SWEEP_IDLE_SECONDS: standard(
    'sweepIdleSeconds',
    whole(1, 3_600),
    '15',
    'How long an open movement stands still before its run is looked for; while it waits for its approval, forty times as long; where more than 50 wait, up to six times that.',
  ),
};

const ALLOWLIST = {
  SVC_ALLOWLIST_COOLING_PERIOD_ENABLED: standard(
    PART,
    FLAG,
    'false',
    'Whether an address that was added, reactivated or moved to another chain has to wait before it is paid.',
  ),
  SVC_ALLOWLIST_COOLING_PERIOD_HOURS: standard(
    PART,
    whole(1, 8_760),
    '24',
    'How long it has to wait.',
  ),
  SVC_DASHBOARD_WRITER_KEYS_FILE: optional(
    'dashboardKeysFile',
    FILE,
    'JSON file with the key of each operator who may change the list on the dashboard; unset refuses all changes there.',
    OF_API,
  ),
  SVC_DASHBOARD_EXPECTED_WRITER_KEYS: standard(
    'dashboardExpectedKeys',
    whole(1, 1_000),
    '8',
    'How many keys that file must hold; another number stops the start.',
  ),
  SVC_CONSOLE_ENABLED: standard(
    'consoleEnabled',
    FLAG,
    'true',
    'Whether the API serves the operators’ page under `/console/` ([console](console.md)).',
  ),
  SVC_CONSOLE_STREAMS_MAX: standard(
    'consoleStreamsMax',
    whole(1, 10_000),
    '200',
    'Streams of the console that a process keeps open at once; one more is answered 503.',
  ),
  SVC_CONSOLE_ORIGIN: optional(
    'consoleOrigin',
    ORIGIN,
    'The one origin that browsers open the console under; its requests under another host or port are refused. Unset it is `http://localhost:<SVC_PORT>`.',
    OF_API,
  ),
};

const CALLBACKS = {
  SVC_CALLBACK_ALLOWED_HOSTS_CSV: optional(
    'callbackHosts',
    HOSTS,
    'Hosts that callbacks may go to; none makes every callback a dead letter.',
  ),
  SVC_CALLBACK_HMAC_SECRET: optional(
    'callbackSigner',
    CALLBACK_SECRETS,
    'Secrets that sign callbacks; several sign all, for rotation.',
    { ...SECRET, ...OF_WORKER },
  ),
  SVC_CALLBACK_MAX_ATTEMPTS: standard(
    'callbackMaxAttempts',
    whole(1, 1_000),
    '20',
    'Failed attempts that make a callback a dead letter.',
  ),
  SVC_CALLBACK_RETENTION_DAYS: standard(
    'callbackRetentionDays',
    whole(1, 10_000),
    '365',
    'Days that a delivered callback is listed; then its row is removed. Others stay.',
  ),
};

/** The sections, in the order of the documentation. */
export const SECTIONS = {
  Listening: LISTENING,
  'Postgres and Temporal': DEPENDENCIES,
  'The process': PROCESS,
  Callers: CALLERS,
  Movements: MOVEMENTS,
  Allowlist: ALLOWLIST,
  Callbacks: CALLBACKS,
} as const;

export const SETTINGS = {
  ...LISTENING,
  ...DEPENDENCIES,
  ...PROCESS,
  ...CALLERS,
  ...MOVEMENTS,
  ...ALLOWLIST,
  ...CALLBACKS,
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Values = {
  readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never;
};

/** The fields that the service sees, each as parsed by the schema of its setting. */
export type Fields = {
  readonly [
    N in SettingName as (typeof SETTINGS)[N]['field'] extends string
      ? (typeof SETTINGS)[N]['field']
      : never
  ]: Values[N];
};

/** Every setting with its name, in the order of the documentation. */
export const SETTING_LIST: readonly (readonly [SettingName, Setting<unknown>])[] = Object.keys(
  SETTINGS,
).map((key) => {
  const name = key as SettingName;
  return [name, SETTINGS[name]];
});
