/** Reads the profiles file: which key is used at which service. */
import { readFileSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { usageError } from './exit.ts';

/** The fields that a profile may have; each value is text. */
export const PROFILE_FIELDS = [
  'api_url',
  'key_id',
  'secret',
  'secret_file',
  'output',
  'approver',
  'dashboard_operator',
  'dashboard_secret',
  'dashboard_secret_file',
] as const;
export type ProfileField = (typeof PROFILE_FIELDS)[number];
export type Profile = Readonly<Partial<Record<ProfileField, string>>>;

export interface Profiles {
  readonly file: string;
  readonly exists: boolean;
  readonly chosen: string | null;
  readonly names: readonly string[];
  readonly profile: Profile;
}

const SECRETS: readonly ProfileField[] = ['secret', 'dashboard_secret'];

/** Returns the file in `SVC_CLIENT_CONFIG`, else the file in this user's configuration folder. */
export function profilesFile(env: NodeJS.ProcessEnv, program: string): string {
  const named = env['SVC_CLIENT_CONFIG'] ?? '';
  if (named !== '') return named;
  const base = env['XDG_CONFIG_HOME'] ?? '';
  return join(isAbsolute(base) ? base : join(homeOf(env), '.config'), program, 'config.json');
}

/** Returns the home folder; without one, a path that does not exist, never the current folder. */
function homeOf(env: NodeJS.ProcessEnv): string {
  const named = env['HOME'] ?? '';
  if (named !== '') return named;
  try {
    return userInfo().homedir || '/nonexistent';
  } catch {
    return '/nonexistent';
  }
}

/** Reads the profile with this name, else the file's default profile. The file may be missing. */
export function readProfiles(file: string, name: string | undefined): Profiles {
  const text = contentOf(file);
  if (text === null) {
    if (name !== undefined)
      throw usageError(`There is no profile "${name}": ${file} does not exist.`);
    return { file, exists: false, chosen: null, names: [], profile: {} };
  }
  const { default_profile: byDefault, profiles } = parsed(file, text);
  const names = Object.keys(profiles);
  const chosen = name ?? byDefault ?? null;
  if (chosen !== null && !Object.hasOwn(profiles, chosen))
    throw usageError(
      `There is no profile "${chosen}" in ${file}; there are: ${names.join(', ') || 'none'}.`,
    );
  requirePrivate(file, profiles);
  const profile = chosen === null ? {} : (profiles[chosen] ?? {});
  return { file, exists: true, chosen, names, profile: withPlaces(profile, dirname(file)) };
}

function contentOf(file: string): string | null {
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return null;
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

function parsed(
  file: string,
  text: string,
): { default_profile?: string; profiles: Record<string, Profile> } {
  // The error does not quote the text: the text may hold a secret.
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usageError(`${file} is not JSON.`);
  }
  const wrong = (what: string): never => {
    throw usageError(`${file}: ${what}.`);
  };
  if (!isRecord(value)) return wrong('must be an object');
  const { default_profile, profiles = {}, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    wrong(`"${unknown}" is unknown; there are "default_profile" and "profiles"`);
  if (default_profile !== undefined && typeof default_profile !== 'string')
    wrong('"default_profile" must be a name');
  if (!isRecord(profiles)) return wrong('"profiles" must be an object');
  const read = Object.fromEntries(
    Object.entries(profiles).map(([name, profile]) => [name, readProfile(name, profile, wrong)]),
  );
  return {
    ...(typeof default_profile === 'string' ? { default_profile } : {}),
    profiles: read,
  };
}

function readProfile(name: string, value: unknown, wrong: (what: string) => never): Profile {
  if (!isRecord(value)) return wrong(`profile "${name}" must be an object`);
  for (const [field, content] of Object.entries(value)) {
    if (!PROFILE_FIELDS.some((known) => known === field))
      wrong(`"${field}" of profile "${name}" is unknown; there are ${PROFILE_FIELDS.join(', ')}`);
    if (typeof content !== 'string') wrong(`"${field}" of profile "${name}" must be text`);
  }
  return value as Profile;
}

/**
 * Throws unless the profiles file is safe. Anyone who can write the file decides where requests go
 * and which key signs the requests, so only the owner may write the file, and the owner must be
 * this user or root. If the file holds a secret, no other user may read the file.
 */
function requirePrivate(file: string, profiles: Readonly<Record<string, Profile>>): void {
  const holds = Object.values(profiles).some((profile) =>
    SECRETS.some((field) => profile[field] !== undefined),
  );
  const { mode: all, uid } = statSync(file);
  const mode = all & 0o777;
  const own = process.getuid?.() ?? uid;
  if (uid !== own && uid !== 0)
    throw usageError(`${file} belongs to another user (uid ${String(uid)}): make it your own`);
  if ((mode & 0o022) !== 0)
    throw usageError(
      `${file} decides where requests go and others may write it (mode ${mode.toString(8)}): chmod 600 ${file}`,
    );
  if (holds && (mode & 0o077) !== 0)
    throw usageError(
      `${file} holds a secret and others may read it (mode ${mode.toString(8)}): chmod 600 ${file}`,
    );
}

/** Makes the profile's file paths absolute; relative paths start at the profiles file's folder. */
function withPlaces(profile: Profile, folder: string): Profile {
  const place = (path: string): string => {
    if (path.startsWith('~/')) return join(homedir(), path.slice(2));
    return isAbsolute(path) ? path : join(folder, path);
  };
  return Object.fromEntries(
    Object.entries(profile).map(([field, value]) => [
      field,
      field.endsWith('_file') ? place(value) : value,
    ]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the message of an error; a value that is no Error is converted to text. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
