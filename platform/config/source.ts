/** Finds the text of each setting: from its variable, the file of a secret, or the default. */
import { readFileSync } from 'node:fs';
import { fileNameOf } from './names.ts';
import type { Setting } from './setting.ts';
import type { Duty } from './role.ts';
import { SETTING_LIST, type SettingName } from './settings.ts';

export type Source = 'env' | 'file' | 'default' | 'unset' | 'not opened';

export interface Sourced {
  readonly text: string | undefined;
  readonly source: Source;
}

export interface SourcedSettings {
  readonly texts: ReadonlyMap<SettingName, Sourced>;
  /** Faults of settings that could not be read; those settings are missing in `texts`. */
  readonly faults: readonly string[];
}

/**
 * Returns the texts of all settings that a process with these duties opens; with `any`, of all
 * settings, for commands that choose what they need. An empty variable counts as unset.
 */
export function findTexts(
  environment: NodeJS.ProcessEnv,
  settings: readonly (readonly [SettingName, Setting<unknown>])[] = SETTING_LIST,
  duties: readonly Duty[] | 'any' = 'any',
): SourcedSettings {
  const texts = new Map<SettingName, Sourced>();
  const faults: string[] = [];
  for (const [name, setting] of settings) {
    if (!opens(setting, duties, environment)) {
      texts.set(name, { text: undefined, source: 'not opened' });
      continue;
    }
    const own = nonEmpty(environment[name]);
    const file = setting.secret ? nonEmpty(environment[fileNameOf(name)]) : undefined;
    if (own !== undefined && file !== undefined)
      faults.push(`${name}: ${fileNameOf(name)} is set too; give one of them`);
    else if (own !== undefined) texts.set(name, { text: own, source: 'env' });
    else if (file !== undefined) {
      const read = readSecret(file);
      if (read.ok) texts.set(name, { text: read.text, source: 'file' });
      else faults.push(`${fileNameOf(name)}: ${read.fault}`);
    } else if (setting.default !== null)
      texts.set(name, { text: setting.default, source: 'default' });
    else if (setting.required)
      faults.push(`${name}: must be set${setting.secret ? `, or ${fileNameOf(name)}` : ''}`);
    else texts.set(name, { text: undefined, source: 'unset' });
  }
  return { texts, faults };
}

function opens(
  { openedBy, openedWithout: other }: Setting<unknown>,
  duties: readonly Duty[] | 'any',
  environment: NodeJS.ProcessEnv,
): boolean {
  if (duties === 'any' || openedBy === 'all' || openedBy.some((duty) => duties.includes(duty)))
    return true;
  if (other === undefined) return false;
  return (
    nonEmpty(environment[other]) === undefined &&
    nonEmpty(environment[fileNameOf(other)]) === undefined
  );
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/**
 * Reads a secret from a file. Faults do not contain the path: a secret put there by mistake must
 * not be shown.
 */
function readSecret(
  path: string,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly fault: string } {
  try {
    // Editors and `echo` end a file with one newline, which is not part of the secret; further
    // newlines are.
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return text === ''
      ? { ok: false, fault: 'the file that it names is empty' }
      : { ok: true, text };
  } catch (error) {
    const code =
      typeof error === 'object' && error !== null && 'code' in error
        ? ` (${String(error.code)})`
        : '';
    return { ok: false, fault: `the file that it names cannot be read${code}` };
  }
}
