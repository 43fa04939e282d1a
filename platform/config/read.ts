/** Reads the settings from the environment and collects all of their faults. */
import type { Build } from '../../domain/builds.ts';
import { deploymentOf, readBuild } from './build.ts';
import { dutiesOf, type Duty, type ProcessRole } from './role.ts';
import { findTexts, type Sourced } from './source.ts';
import { nameFaults } from './names.ts';
import { ruleFaults } from './rules.ts';
import { SETTING_LIST, SETTINGS, type SettingName, type Values } from './settings.ts';
import type { Setting } from './setting.ts';
import { readTemporal, TEMPORAL_SETTINGS, type TemporalAccess } from './temporal.ts';

/** Settings that cannot be used; the message names each with its reason. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(['The settings cannot be used:', ...faults.map((fault) => `  - ${fault}`)].join('\n'));
    this.faults = faults;
  }
}

export interface ReadSettings {
  readonly duties: readonly Duty[];
  readonly values: Values;
  readonly temporal: TemporalAccess;
  readonly build: Build | null;
  readonly texts: ReadonlyMap<SettingName, Sourced>;
}

/** Reads every setting of the role. Throws {@link ConfigError} with all faults. */
export function readSettings(environment: NodeJS.ProcessEnv, role: ProcessRole): ReadSettings {
  const { duties, values, texts, temporal, build, faults } = examineSettings(environment, role);
  if (faults.length > 0 || temporal === null) throw new ConfigError(faults);
  return { duties, values: values as Values, texts, temporal, build };
}

/** Returns every usable setting, and the faults of the others and of their combinations. */
export function examineSettings(
  environment: NodeJS.ProcessEnv,
  role: ProcessRole,
): {
  readonly duties: readonly Duty[];
  readonly values: Partial<Values>;
  readonly texts: ReadonlyMap<SettingName, Sourced>;
  /** Null when the access to Temporal has faults. */
  readonly temporal: TemporalAccess | null;
  /** Null when the workers have no build, or when it has faults. */
  readonly build: Build | null;
  readonly faults: readonly string[];
} {
  // Read first, because the duties decide which settings the process opens. A value other than
  // `true` or `false` is reported later.
  const duties = dutiesOf(role, environment['SVC_WORKERS_ENABLED'] !== 'false');
  const { texts, faults: sourceFaults } = findTexts(environment, SETTING_LIST, duties);
  const faults = [...nameFaults(environment), ...sourceFaults];
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const [name, setting] of SETTING_LIST) {
    const sourced = texts.get(name);
    if (sourced === undefined) continue;
    const parsed = setting.schema.safeParse(sourced.text);
    if (parsed.success) values[name] = parsed.data;
    else
      for (const { message } of parsed.error.issues)
        faults.push(`${name}: ${shown(message, sourced.text, setting)}`);
  }
  // Each value was parsed by the schema of its name; a missing value already has a fault.
  faults.push(
    ...ruleFaults(values as Partial<Values>, duties, (name) => texts.get(name)?.source === 'unset'),
  );
  const temporal = readTemporal(values as Partial<Values>, environment);
  const { build, faults: buildFaults } = readBuild(values as Partial<Values>, environment);
  faults.push(...temporal.faults, ...buildFaults);
  return {
    duties,
    values: values as Partial<Values>,
    texts,
    temporal: temporal.access,
    build,
    faults,
  };
}

/**
 * Reads the access to Temporal from the current environment and the files that it names. Throws
 * {@link ConfigError}.
 */
export function readTemporalAccess(environment: NodeJS.ProcessEnv): TemporalAccess {
  const faults: string[] = [];
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const name of TEMPORAL_SETTINGS)
    try {
      values[name] = readSetting(name, environment);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
    }
  // As above, each value was parsed by the schema of its name.
  const { access, faults: more } = readTemporal(values as Partial<Values>, environment);
  if (access === null || faults.length > 0) throw new ConfigError([...faults, ...more]);
  return access;
}

/**
 * Returns the name of the deployment of workers, for commands about its builds; null when it is
 * unset. Throws {@link ConfigError}.
 */
export function readDeployment(environment: NodeJS.ProcessEnv): string | null {
  const own = readSetting('SVC_TEMPORAL_DEPLOYMENT_NAME', environment);
  const { value, faults } = deploymentOf(own, environment);
  if (faults.length > 0) throw new ConfigError(faults);
  return value;
}

/**
 * Reads a single setting, for commands that need no other; undefined when the setting is unset.
 * Throws {@link ConfigError}.
 */
export function readSetting<N extends SettingName>(
  name: N,
  environment: NodeJS.ProcessEnv,
): Values[N] | undefined {
  const setting: Setting<unknown> = { ...SETTINGS[name], required: false };
  const { texts, faults } = findTexts(environment, [[name, setting]]);
  if (faults.length > 0) throw new ConfigError(faults);
  const text = texts.get(name)?.text;
  if (text === undefined) return undefined;
  const parsed = setting.schema.safeParse(text);
  // The value was parsed by the schema of the same name.
  if (parsed.success) return parsed.data as Values[N];
  throw new ConfigError(
    parsed.error.issues.map(({ message }) => `${name}: ${shown(message, text, setting)}`),
  );
}

/** Returns the value of an optional setting that is unset. */
export function whenUnset<N extends SettingName>(name: N): Values[N] {
  const setting: Setting<unknown> = SETTINGS[name];
  // The value was parsed by the schema of the same name, from its default.
  return setting.schema.parse(setting.default ?? undefined) as Values[N];
}

/**
 * Returns the message; if it contains a part of a secret, a general message instead. The schemas
 * should prevent that already.
 */
function shown(message: string, text: string | undefined, { secret }: Setting<unknown>): string {
  const parts =
    secret && text !== undefined
      ? [text, ...text.split(/[,:]/)].filter((part) => part === text || part.length > 3)
      : [];
  return parts.some((part) => message.includes(part)) ? 'cannot be used' : message;
}
