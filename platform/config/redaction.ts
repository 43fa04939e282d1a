/** A last net: takes the process's own secrets out of a text that is about to be written. */
import type { Setting } from './setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';
import type { Sourced } from './source.ts';

export type Redaction = (text: string) => string;

/** Shorter texts stand in honest lines too often to be taken out of them. */
const SHORTEST = 6;

/**
 * Knows every secret setting as a whole and in its parts: passwords, single keys and header values;
 * and `more` texts that come from elsewhere.
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
  // The longest first, or a part of it would be taken out and leave the rest.
  const ordered = [...secrets].sort((left, right) => right.length - left.length);
  return (text) =>
    ordered.reduce(
      (rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, '[redacted]') : rest),
      text,
    );
}
