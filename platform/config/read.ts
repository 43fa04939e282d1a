/** From an environment to values, with every fault of it together. */
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
  readonly texts: ReadonlyMap<SettingName, Sourced>;
}

/** Reads every setting of the role. Throws {@link ConfigError} with all that is wrong. */
export function readSettings(environment: NodeJS.ProcessEnv, role: ProcessRole): ReadSettings {
  const { duties, values, texts, temporal, faults } = examineSettings(environment, role);
  if (faults.length > 0 || temporal === null) throw new ConfigError(faults);
  return { duties, values: values as Values, texts, temporal };
}

/** Every setting that can be used, and what is wrong with the others and between them. */
export function examineSettings(
  environment: NodeJS.ProcessEnv,
  role: ProcessRole,
): {
  readonly duties: readonly Duty[];
  readonly values: Partial<Values>;
  readonly texts: ReadonlyMap<SettingName, Sourced>;
  /** Null where it has faults. */
  readonly temporal: TemporalAccess | null;
  readonly faults: readonly string[];
} {
  // What the process opens depends on it, so it is looked at before anything is read; another text
  // is a fault.
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
  // Each value is what the schema of its name made of it; where one is missing there is a fault
  // already.
  faults.push(
    ...ruleFaults(values as Partial<Values>, duties, (name) => texts.get(name)?.source === 'unset'),
  );
  const temporal = readTemporal(values as Partial<Values>, environment);
  faults.push(...temporal.faults);
  return {
    duties,
    values: values as Partial<Values>,
    texts,
    temporal: temporal.access,
    faults,
  };
}

/**
 * How Temporal is reached, by what the environment and the files that it names hold now. Throws
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
  // As above, each value is what the schema of its name made of it.
  const { access, faults: more } = readTemporal(values as Partial<Values>, environment);
  if (access === null || faults.length > 0) throw new ConfigError([...faults, ...more]);
  return access;
}

/**
 * One setting alone, for commands that need no more; undefined when it is not set. Throws {@link
 * ConfigError}.
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
  // The value is what the schema of this very name made of it.
  if (parsed.success) return parsed.data as Values[N];
  throw new ConfigError(
    parsed.error.issues.map(({ message }) => `${name}: ${shown(message, text, setting)}`),
  );
}

/** What a setting is where nothing is said; for one that need not be set. */
export function whenUnset<N extends SettingName>(name: N): Values[N] {
  const setting: Setting<unknown> = SETTINGS[name];
  // The value is what the schema of this very name makes of its default.
  return setting.schema.parse(setting.default ?? undefined) as Values[N];
}

/** A net under the kinds: whatever a schema says about a secret, its text is not in it. */
function shown(message: string, text: string | undefined, { secret }: Setting<unknown>): string {
  const parts =
    secret && text !== undefined
      ? [text, ...text.split(/[,:]/)].filter((part) => part === text || part.length > 3)
      : [];
  return parts.some((part) => message.includes(part)) ? 'cannot be used' : message;
}
