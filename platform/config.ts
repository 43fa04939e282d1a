/** The settings as the service uses them. `platform/config/settings.ts` is the table of all that can be set. */
import type { CallbackSigner } from './callback-signature.ts';
import { ConfigError, readSetting, readSettings } from './config/read.ts';
import { redactionOf, type Redaction } from './config/redaction.ts';
import type { Values } from './config/settings.ts';
import type { PayloadKey } from './payload-keys.ts';
import type { SecretsKeys } from './secrets.ts';

export { ConfigError, readSetting };

export interface TracingConfig {
  /** Where spans are sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Share of traces kept of those that begin here. */
  readonly sampleRatio: number;
}

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly opsHost: string;
  readonly opsPort: number;
  readonly apiPrefix: string;
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly temporalUiUrl: string;
  /** Encrypt what Temporal stores; none leaves it as it is. */
  readonly payloadKeys: readonly PayloadKey[];
  /** Runs keep their call stacks for the Temporal UI. */
  readonly workflowCallStacks: boolean;
  readonly edition: 'commercial' | 'free';
  readonly dataDir: string;
  readonly authEnabled: boolean;
  readonly authMaxSkewSeconds: number;
  /** Seal the secrets of callers; never none while authentication is on. */
  readonly secretsKeys: SecretsKeys;
  /** Never on without authentication: there is no caller to count for. */
  readonly rateLimitEnabled: boolean;
  readonly rateLimitReadRpm: number;
  readonly rateLimitWriteRpm: number;
  readonly workersEnabled: boolean;
  readonly approvalTtlSeconds: number;
  readonly autoApproveEnabled: boolean;
  /** The decision of a policy is kept and has no effect. */
  readonly autoApproveDryRun: boolean;
  readonly registryFile: string | undefined;
  readonly venuesFile: string | undefined;
  readonly balanceStaleSeconds: number;
  readonly transferPendingSeconds: number;
  readonly healthIntervalSeconds: number;
  readonly allowLocalSigners: boolean;
  readonly sweepIdleSeconds: number;
  /** How long an address waits before it is paid; null when it need not. */
  readonly allowlistCoolingSeconds: number | null;
  readonly dashboardKeysFile: string | undefined;
  readonly dashboardExpectedKeys: number;
  /** Hosts that callbacks may go to, in normal form. */
  readonly callbackHosts: readonly string[];
  /** Null when no secret is set. */
  readonly callbackSigner: CallbackSigner | null;
  readonly callbackMaxAttempts: number;
  readonly logLevel: Values['SVC_LOG_LEVEL'];
  /** Takes the secrets among the settings out of a text. */
  readonly redact: Redaction;
  /** Null when tracing is off. */
  readonly tracing: TracingConfig | null;
}

/** Reads the environment. Throws {@link ConfigError} with every fault. An empty value counts as unset. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const { values: value, texts } = readSettings(environment);
  return {
    host: value.SVC_HOST,
    port: value.SVC_PORT,
    opsHost: value.SVC_OPS_HOST,
    opsPort: value.SVC_OPS_PORT,
    apiPrefix: value.SVC_API_PREFIX,
    databaseUrl: value.SVC_DATABASE_URL,
    databasePoolSize: value.SVC_DATABASE_POOL_SIZE,
    temporalAddress: value.SVC_TEMPORAL_ADDRESS,
    temporalNamespace: value.SVC_TEMPORAL_NAMESPACE,
    temporalUiUrl: value.SVC_TEMPORAL_UI_URL,
    payloadKeys: value.SVC_PAYLOAD_KEYS ?? [],
    workflowCallStacks: value.SVC_WORKFLOW_CALL_STACKS,
    edition: value.SVC_EDITION,
    dataDir: value.SVC_DATA_DIR,
    authEnabled: value.SVC_AUTH_ENABLED,
    authMaxSkewSeconds: value.SVC_AUTH_MAX_SKEW_SECONDS,
    secretsKeys: value.SVC_SECRETS_KEY ?? [],
    rateLimitEnabled: value.SVC_RATE_LIMIT_ENABLED && value.SVC_AUTH_ENABLED,
    rateLimitReadRpm: value.SVC_RATE_LIMIT_READ_RPM,
    rateLimitWriteRpm: value.SVC_RATE_LIMIT_WRITE_RPM,
    workersEnabled: value.SVC_WORKERS_ENABLED,
    approvalTtlSeconds: value.SVC_APPROVAL_TTL_SECONDS,
    autoApproveEnabled: value.SVC_AUTO_APPROVE_ENABLED,
    autoApproveDryRun: value.SVC_AUTO_APPROVE_DRY_RUN,
    registryFile: value.SVC_REGISTRY_FILE,
    venuesFile: value.SVC_VENUES_FILE,
    balanceStaleSeconds: value.SVC_BALANCE_STALE_THRESHOLD_SECONDS,
    transferPendingSeconds: value.SVC_CAPITAL_TRANSFER_PENDING_TIMEOUT_SECONDS,
    healthIntervalSeconds: value.SVC_REGISTRY_HEALTH_INTERVAL_SECONDS,
    allowLocalSigners: value.SVC_LOCAL_SIGNER_BACKEND === 'local',
    sweepIdleSeconds: value.SVC_SWEEP_IDLE_SECONDS,
    allowlistCoolingSeconds: coolingSeconds({
      enabled: value.SVC_ALLOWLIST_COOLING_PERIOD_ENABLED,
      hours: value.SVC_ALLOWLIST_COOLING_PERIOD_HOURS,
    }),
    dashboardKeysFile: value.SVC_DASHBOARD_WRITER_KEYS_FILE,
    dashboardExpectedKeys: value.SVC_DASHBOARD_EXPECTED_WRITER_KEYS,
    callbackHosts: value.SVC_CALLBACK_ALLOWED_HOSTS_CSV ?? [],
    callbackSigner: value.SVC_CALLBACK_HMAC_SECRET ?? null,
    callbackMaxAttempts: value.SVC_CALLBACK_MAX_ATTEMPTS,
    logLevel: value.SVC_LOG_LEVEL,
    redact: redactionOf(texts),
    tracing: tracingOf(value),
  };
}

/** The cooling period as the list counts it. */
export function coolingSeconds({ enabled, hours }: { readonly enabled: boolean; readonly hours: number }): number | null {
  return enabled ? hours * 3_600 : null;
}

/** The environment of this process, for commands that read a part of it. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
}

function tracingOf(value: Values): TracingConfig | null {
  const { SVC_TRACING_OTLP_URL: url, SVC_TRACING_OTLP_HEADERS: headers = {}, SVC_TRACING_SAMPLE_RATIO: sampleRatio } = value;
  return url === undefined ? null : { url, headers, sampleRatio };
}
