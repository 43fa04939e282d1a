/**
 * The settings as the service uses them: a field for each entry of `platform/config/settings.ts`,
 * and the few values that combine several settings.
 */
import type { Build } from '../domain/builds.ts';
import {
  ConfigError,
  readDeployment,
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

export {
  ConfigError,
  readDeployment,
  readSetting,
  readTemporalAccess,
  whenUnset,
  type TemporalAccess,
};

export interface TracingConfig {
  /** The address to which spans are sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Share, 0 to 1, of the traces that begin in this process and are kept. */
  readonly sampleRatio: number;
}

/** Values that combine several settings. */
interface Together {
  /** The duties of the process; secrets that only other duties need are absent. */
  readonly duties: readonly Duty[];
  /** False without authentication, since requests then have no caller to count them for. */
  readonly rateLimitEnabled: boolean;
  /** Cooling period in seconds before a new address is paid; null for no cooling. */
  readonly allowlistCoolingSeconds: number | null;
  readonly temporalNamespace: string;
  /** Access to Temporal, from the environment and its files at the start. */
  readonly temporal: TemporalAccess;
  /**
   * Reads the access to Temporal again from the current environment and files. Throws {@link
   * ConfigError}.
   */
  readonly readTemporal: () => TemporalAccess;
  /** The build under which the workers of this process are registered; null for none. */
  readonly build: Build | null;
  /** Null when tracing is off. */
  readonly tracing: TracingConfig | null;
  /** Removes the secrets of the settings from a text. */
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
  const { duties, values: value, texts, temporal, build } = readSettings(environment, role);
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
    build,
    tracing: tracingOf(value),
    redact: redactionOf(texts, secretsOf(temporal)),
  };
}

function fieldsOf(values: Values): Fields {
  const named = SETTING_LIST.flatMap(([name, { field }]) =>
    field === PART ? [] : [[field, values[name]] as const],
  );
  // Each field holds the value of the setting that names it, so the cast is correct.
  return Object.fromEntries(named) as unknown as Fields;
}

/** Returns the cooling period in seconds; null for no cooling. */
export function coolingSeconds({
  enabled,
  hours,
}: {
  readonly enabled: boolean;
  readonly hours: number;
}): number | null {
  return enabled ? hours * 3_600 : null;
}

/** Returns the environment of this process, for commands that read a part of it. */
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
