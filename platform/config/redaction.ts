/** A last net: takes the process's own secrets out of a text that is about to be written. */
import { SETTINGS, type SettingName } from './settings.ts';
import type { Sourced } from './source.ts';

export type Redaction = (text: string) => string;

/** Shorter texts stand in honest lines too often to be taken out of them. */
const SHORTEST = 6;

/** Knows every secret setting as a whole and in its parts: passwords, single keys and header values. */
export function redactionOf(texts: ReadonlyMap<SettingName, Sourced>): Redaction {
  const secrets = new Set<string>();
  for (const [name, { text }] of texts) {
    if (!SETTINGS[name].secret || text === undefined) continue;
    for (const part of [text, ...text.split(','), ...partsOf(name, text)]) {
      if (part.length < SHORTEST) continue;
      secrets.add(part).add(JSON.stringify(part).slice(1, -1));
    }
  }
  // The longest first, or a part of it would be taken out and leave the rest.
  const ordered = [...secrets].sort((left, right) => right.length - left.length);
  return (text) => ordered.reduce((rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, '[redacted]') : rest), text);
}

function partsOf(name: SettingName, text: string): readonly string[] {
  switch (name) {
    case 'SVC_DATABASE_URL': {
      const { password } = URL.canParse(text) ? new URL(text) : { password: '' };
      return [password, decoded(password)];
    }
    case 'SVC_PAYLOAD_KEYS':
      return text.split(',').map((entry) => entry.slice(entry.indexOf(':') + 1).trim());
    case 'SVC_TRACING_OTLP_HEADERS':
      return text.split(',').flatMap((entry) => {
        const value = entry.slice(entry.indexOf('=') + 1).trim();
        return [value, decoded(value)];
      });
    default:
      return [];
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
