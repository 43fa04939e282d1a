/**
 * The settings as the service uses them: a field for each entry of `platform/config/settings.ts`,
 * and the few values that several settings make together.
 */
import {
  ConfigError,
  readSetting,
  readSettings,
  readTemporalAccess,
  whenUnset,
} from './config/read.ts';
import { redactionOf, type Redaction } from './config/redaction.ts';
import type { Duty, ProcessRole } from './config/role.ts';
import { PART } from './config/setting.ts';
import { SETTING_LIST, type Fields, type Values } from './config/settings.ts';
import { secretsOf, type TemporalAccess } from './config/temporal.ts';

export { ConfigError, readSetting, readTemporalAccess, whenUnset, type TemporalAccess };

export interface TracingConfig {
  /** Where spans are sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Share of traces kept of those that begin here. */
  readonly sampleRatio: number;
}

/** What no setting says alone. */
interface Together {
  /** What the process does; secrets of another duty are not in here. */
  readonly duties: readonly Duty[];
  /** Never on without authentication: there is no caller to count for. */
  readonly rateLimitEnabled: boolean;
  /** How long an address waits before it is paid; null when it need not. */
  readonly allowlistCoolingSeconds: number | null;
  readonly temporalNamespace: string;
  /** How Temporal is reached, by what the environment and its files held at the start. */
  readonly temporal: TemporalAccess;
  /** The same by what they hold now. Throws {@link ConfigError}. */
  readonly readTemporal: () => TemporalAccess;
  /** Null when tracing is off. */
  readonly tracing: TracingConfig | null;
  /** Takes the secrets among the settings out of a text. */
  readonly redact: Redaction;
}

export type Config = Fields & Together;

/**
 * Reads the environment for a process of the role. Throws {@link ConfigError} with every fault. An
 * empty value counts as unset.
 */
export function readConfig(
  environment: NodeJS.ProcessEnv = process.env,
  role: ProcessRole = 'all',
): Config {
  const { duties, values: value, texts, temporal } = readSettings(environment, role);
  return {
    ...fieldsOf(value),
    duties,
    rateLimitEnabled: value.SVC_RATE_LIMIT_ENABLED && value.SVC_AUTH_ENABLED,
    allowlistCoolingSeconds: coolingSeconds({
      enabled: value.SVC_ALLOWLIST_COOLING_PERIOD_ENABLED,
      hours: value.SVC_ALLOWLIST_COOLING_PERIOD_HOURS,
    }),
    temporal,
    temporalNamespace: temporal.namespace,
    readTemporal: () => readTemporalAccess(environment),
    tracing: tracingOf(value),
    redact: redactionOf(texts, secretsOf(temporal)),
  };
}

function fieldsOf(values: Values): Fields {
  const named = SETTING_LIST.flatMap(([name, { field }]) =>
    field === PART ? [] : [[field, values[name]] as const],
  );
  // Each field is the value of the very entry that names it.
  return Object.fromEntries(named) as unknown as Fields;
}

/** The cooling period as the list counts it. */
export function coolingSeconds({
  enabled,
  hours,
}: {
  readonly enabled: boolean;
  readonly hours: number;
}): number | null {
  return enabled ? hours * 3_600 : null;
}

/** The environment of this process, for commands that read a part of it. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
}

function tracingOf(value: Values): TracingConfig | null {
  const {
    SVC_TRACING_OTLP_URL: url,
    SVC_TRACING_OTLP_HEADERS: headers = {},
    SVC_TRACING_SAMPLE_RATIO: sampleRatio,
  } = value;
  return url === undefined ? null : { url, headers, sampleRatio };
}
