/**
 * Checks the names of `SVC_*` variables: an unknown name is probably misspelt, and would be
 * ignored.
 */
import { SETTING_LIST } from './settings.ts';

/** Names that the client tools read; they are often set in the same shell as the service. */
const CLIENT_NAMES = [
  'SVC_KEY_ID',
  'SVC_HMAC_SECRET',
  'SVC_HMAC_SECRET_FILE',
  'SVC_API_URL',
  'SVC_AGENT_NAMESPACE',
  'SVC_AUTHORITY_KEY',
  'SVC_OUTPUT',
  'SVC_APPROVER',
  'SVC_DASHBOARD_OPERATOR',
  'SVC_DASHBOARD_SECRET',
  'SVC_DASHBOARD_SECRET_FILE',
  'SVC_CLIENT_CONFIG',
] as const;

/** Names that the embedded stack reads; it starts the service with its own environment. */
const STACK_NAMES = [
  'SVC_DATA_DIR',
  'SVC_POSTGRES_PORT',
  'SVC_TEMPORAL_PORT',
  'SVC_TEMPORAL_UI_PORT',
  'SVC_CHAIN_PORT',
  'SVC_PAPER_VENUE_PORT',
] as const;

/** Known names that the service itself does not read, with the program that reads them. */
export const IGNORED_NAMES: Readonly<Record<string, string>> = Object.fromEntries([
  ...CLIENT_NAMES.map((name) => [name, 'client tools']),
  ...STACK_NAMES.map((name) => [name, 'embedded stack']),
]);

/**
 * Removed settings, with the reason. The service does not start while one is set, even if it is
 * empty.
 */
export const REMOVED_NAMES: Readonly<Record<string, string>> = {
  SVC_DASHBOARD_WRITE_TOKEN:
    'this token is no longer supported, and must not be set at all, not even empty; remove it',
};

/** Returns the name of the variable that may name a file with the value of a secret setting. */
export function fileNameOf(name: string): string {
  return `${name}_FILE`;
}

const READ_NAMES: readonly string[] = SETTING_LIST.flatMap(([name, { secret }]) =>
  secret ? [name, fileNameOf(name)] : [name],
);

/**
 * Returns a fault for each unknown or removed name. Of each value it reads only whether the value
 * is empty.
 */
export function nameFaults(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!name.startsWith('SVC_') || value === undefined) return [];
    const removed = REMOVED_NAMES[name];
    if (removed !== undefined) return [`${name}: ${removed}`];
    if (value === '' || READ_NAMES.includes(name) || Object.hasOwn(IGNORED_NAMES, name)) return [];
    const meant = nearest(name);
    return [`${name}: there is no such setting${meant === null ? '' : `; did you mean ${meant}?`}`];
  });
}

/** Returns the known name with the most similar spelling, or null when none is similar. */
function nearest(name: string): string | null {
  // The common prefix `SVC_` is not counted; it would make all names look similar.
  const limit = Math.max(2, Math.floor((name.length - 'SVC_'.length) / 4));
  const ranked = [...READ_NAMES, ...Object.keys(IGNORED_NAMES)].map((known) => ({
    known,
    distance: distance(name, known),
  }));
  const best = ranked.reduce((left, right) => (right.distance < left.distance ? right : left));
  return best.distance <= limit ? best.known : null;
}

/** Returns how many characters must be added, removed or replaced between the texts. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
