/**
 * Reads the settings of a program, and where each was found. Order of priority: the profile in
 * `--profile`, then the environment, then the default profile of the profiles file. A key and its
 * secret always come from the same place.
 */
import { readFileSync, statSync } from 'node:fs';
import { usageError } from './exit.ts';
import { profilesFile, readProfiles, reasonOf, type Profile, type Profiles } from './profiles.ts';

export const OUTPUTS = ['table', 'json'] as const;
export type Output = (typeof OUTPUTS)[number];
export const DEFAULT_API_URL = 'http://localhost:8100';

export interface Found<T> {
  readonly value: T;
  /** Where the value was found, as text for people. */
  readonly from: string;
}

/** Where a secret is stored. The secret is read only when needed, and never shown. */
export interface SecretSource {
  readonly from: string;
  readonly file: string | null;
  read(): string;
}

export interface Settings {
  readonly output: Found<Output>;
  readonly apiUrl: Found<string>;
  readonly keyId: Found<string> | null;
  readonly secret: SecretSource | null;
  readonly approver: Found<string> | null;
  readonly dashboardOperator: Found<string> | null;
  readonly dashboardSecret: SecretSource | null;
  readonly profiles: Profiles;
}

/** Settings from the command line. */
export interface SettingsFlags {
  readonly program: string;
  readonly profile?: string | undefined;
  readonly output?: string | undefined;
}

interface Place {
  readonly name: (field: keyof Profile) => string;
  readonly value: (field: keyof Profile) => string | undefined;
}

/** Environment variable of each profile field. */
const VARIABLES: Readonly<Record<keyof Profile, string>> = {
  api_url: 'SVC_API_URL',
  key_id: 'SVC_KEY_ID',
  secret: 'SVC_HMAC_SECRET',
  secret_file: 'SVC_HMAC_SECRET_FILE',
  output: 'SVC_OUTPUT',
  approver: 'SVC_APPROVER',
  dashboard_operator: 'SVC_DASHBOARD_OPERATOR',
  dashboard_secret: 'SVC_DASHBOARD_SECRET',
  dashboard_secret_file: 'SVC_DASHBOARD_SECRET_FILE',
};

/** Returns the service's origin if requests go as plain http to another machine; else null. */
export function exposedAddress({ apiUrl: { value } }: Pick<Settings, 'apiUrl'>): string | null {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url?.protocol !== 'http:') return null;
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  return isHere ? null : url.origin;
}

/** Reads all settings; a missing setting is null. Throws a usage error for a wrong setting. */
export function readSettings(env: NodeJS.ProcessEnv, flags: SettingsFlags): Settings {
  const profiles = readProfiles(profilesFile(env, flags.program), flags.profile);
  const inFile: Place = {
    name: (field) => `${field} of profile "${profiles.chosen ?? ''}"`,
    value: (field) => profiles.profile[field],
  };
  const inEnvironment: Place = {
    name: (field) => VARIABLES[field],
    value: (field) => env[VARIABLES[field]],
  };
  const places = flags.profile === undefined ? [inEnvironment, inFile] : [inFile, inEnvironment];
  const key = pairOf(places, 'key_id', ['secret_file', 'secret']);
  const dashboard = pairOf(places, 'dashboard_operator', [
    'dashboard_secret_file',
    'dashboard_secret',
  ]);
  return {
    output: outputOf(places, flags.output),
    apiUrl: apiUrlOf(first(places, 'api_url')),
    keyId: key.name,
    secret: key.secret,
    approver: first(places, 'approver'),
    dashboardOperator: dashboard.name,
    dashboardSecret: dashboard.secret,
    profiles,
  };
}

function first(places: readonly Place[], field: keyof Profile): Found<string> | null {
  for (const place of places) {
    const value = place.value(field) ?? '';
    if (value !== '') return { value, from: place.name(field) };
  }
  return null;
}

/** Returns name and secret from the first place with either; a secret file wins over a value. */
function pairOf(
  places: readonly Place[],
  name: keyof Profile,
  [file, value]: readonly [keyof Profile, keyof Profile],
): { readonly name: Found<string> | null; readonly secret: SecretSource | null } {
  const place = places.find((each) =>
    [name, file, value].some((field) => (each.value(field) ?? '') !== ''),
  );
  if (place === undefined) return { name: null, secret: null };
  const path = place.value(file) ?? '';
  const text = place.value(value) ?? '';
  const secret: SecretSource | null =
    path !== ''
      ? { from: place.name(file), file: path, read: () => secretIn(path, place.name(file)) }
      : text !== ''
        ? { from: place.name(value), file: null, read: () => text }
        : null;
  return { name: first([place], name), secret };
}

/** Returns the secret in a file, without the newline that editors add at the end. */
function secretIn(path: string, named: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw usageError(`The file of ${named} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  if (text === '') throw usageError(`The file of ${named} is empty: ${path}`);
  return text;
}

/** Returns whether the file's mode gives access to group or others; null if no file exists. */
export function readableByOthers(file: string): boolean | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? null : (stats.mode & 0o077) !== 0;
}

function outputOf(places: readonly Place[], flag: string | undefined): Found<Output> {
  const found = flag === undefined ? first(places, 'output') : { value: flag, from: '--output' };
  if (found === null) return { value: 'table', from: 'default' };
  const value = OUTPUTS.find((each) => each === found.value);
  if (value === undefined)
    throw usageError(`${found.from} is "${found.value}"; it must be ${OUTPUTS.join(' or ')}.`);
  return { value, from: found.from };
}

function apiUrlOf(found: Found<string> | null): Found<string> {
  if (found === null) return { value: DEFAULT_API_URL, from: 'default' };
  const url = URL.canParse(found.value) ? new URL(found.value) : null;
  // The error does not show the URL: it may hold a password.
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '')
    throw usageError(
      `${found.from} must be an http or https address without user and password, such as ${DEFAULT_API_URL}.`,
    );
  if (url.pathname !== '/' || url.search + url.hash !== '')
    throw usageError(`${found.from} must be the root of the service, without a path.`);
  return { value: url.origin, from: found.from };
}
