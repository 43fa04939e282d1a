/** Removes the process's own secrets from a text before it is written: the last protection. */
import type { Setting } from './setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';
import type { Sourced } from './source.ts';

export type Redaction = (text: string) => string;

/** Minimum length in characters: shorter secrets occur in harmless lines and are not removed. */
const SHORTEST = 6;

/**
 * Returns the redaction of every secret setting, whole and in parts (passwords, single keys, header
 * values), and of `more` secrets from elsewhere.
 */
export function redactionOf(
  texts: ReadonlyMap<SettingName, Sourced>,
  more: readonly string[] = [],
): Redaction {
  const secrets = new Set(more.filter(({ length }) => length >= SHORTEST));
  for (const [name, { text }] of texts) {
    const setting: Setting<unknown> = SETTINGS[name];
    if (!setting.secret || text === undefined) continue;
    for (const part of [text, ...text.split(','), ...(setting.parts?.(text) ?? [])]) {
      if (part.length < SHORTEST) continue;
      secrets.add(part).add(JSON.stringify(part).slice(1, -1));
    }
  }
  // Longest first: removing a part first would leave the rest of a longer secret.
  const ordered = [...secrets].sort((left, right) => right.length - left.length);
  return (text) =>
    ordered.reduce(
      (rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, '[redacted]') : rest),
      text,
    );
}
