/**
 * Checks the `SVC_*` names. A name that no setting reads is most likely misspelt, and its value
 * would be lost.
 */
import { SETTING_LIST } from './settings.ts';

/** Read by the client tools, and often set in the same shell as the service. */
const CLIENT_NAMES = [
  'SVC_KEY_ID',
  'SVC_HMAC_SECRET',
  'SVC_HMAC_SECRET_FILE',
  'SVC_API_URL',
  'SVC_AGENT_NAMESPACE',
  'SVC_AUTHORITY_KEY',
  'SVC_OUTPUT',
] as const;

/** Read by the embedded stack, which starts the service with its own environment. */
const STACK_NAMES = [
  'SVC_DATA_DIR',
  'SVC_POSTGRES_PORT',
  'SVC_TEMPORAL_PORT',
  'SVC_TEMPORAL_UI_PORT',
  'SVC_CHAIN_PORT',
  'SVC_PAPER_VENUE_PORT',
] as const;

/** Known names that the service itself does not read, and who does. */
export const IGNORED_NAMES: Readonly<Record<string, string>> = Object.fromEntries([
  ...CLIENT_NAMES.map((name) => [name, 'client tools']),
  ...STACK_NAMES.map((name) => [name, 'embedded stack']),
]);

/** Names that stop the start whatever they hold, and why. */
export const REMOVED_NAMES: Readonly<Record<string, string>> = {
  SVC_DASHBOARD_WRITE_TOKEN:
    'this token is no longer supported, and must not be set at all, not even empty; remove it',
};

/** The variable that may name a file with the value of a secret setting. */
export function fileNameOf(name: string): string {
  return `${name}_FILE`;
}

const READ_NAMES: readonly string[] = SETTING_LIST.flatMap(([name, { secret }]) =>
  secret ? [name, fileNameOf(name)] : [name],
);

/**
 * A fault for each unknown or withdrawn name. Of values it reads only whether they are empty.
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

/** The known name that is written most alike, or null when none is close. */
function nearest(name: string): string | null {
  // The prefix is shared by all and must not make unlike names look alike.
  const limit = Math.max(2, Math.floor((name.length - 'SVC_'.length) / 4));
  const ranked = [...READ_NAMES, ...Object.keys(IGNORED_NAMES)].map((known) => ({
    known,
    distance: distance(name, known),
  }));
  const best = ranked.reduce((left, right) => (right.distance < left.distance ? right : left));
  return best.distance <= limit ? best.known : null;
}

/** How many characters must be added, removed or replaced to make one text the other. */
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
