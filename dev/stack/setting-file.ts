/** Adds executors, signers and venues that a file declares to those of the embedded stack. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { isObject } from '../../domain/json.ts';
import { readRegistryFile } from '../../executors/registry-file.ts';
import { loadVenueBindings } from '../../venues/bindings.ts';
import { DevSettingError, ROOT } from './ports.ts';

type Entry = Readonly<Record<string, unknown>>;
export type Lists = Readonly<Record<string, readonly Entry[]>>;

/**
 * For each list: the field with the entry's name, and the fields with paths relative to the file;
 * `a.b` is the field b of the object a.
 */
const KINDS: Readonly<
  Record<
    string,
    { readonly key: string; readonly paths: readonly string[]; readonly called: string }
  >
> = {
  executors: {
    key: 'executor_key',
    paths: ['auth_token_file', 'result_secret_file'],
    called: 'executor',
  },
  signers: {
    key: 'signer_key',
    paths: ['private_key_file', 'auth_token_file'],
    called: 'signer',
  },
  venues: {
    key: 'venue_key',
    paths: ['credentials_file', 'served_at.auth_token_file'],
    called: 'venue',
  },
};

/** The combined lists for the stack's own files, and one line about each addition for people. */
export interface Joined {
  readonly lists: Lists;
  readonly added: readonly string[];
}

/**
 * Returns `own` and the entries of the setting's file. The file is read as the service would read
 * it, so that an error names its place in the file.
 *
 * @throws DevSettingError when a name is already in use; the service's error when it cannot use the
 * file.
 */
export async function withSettingFile(
  setting: 'SVC_REGISTRY_FILE' | 'SVC_VENUES_FILE',
  own: Lists,
  env: NodeJS.ProcessEnv,
): Promise<Joined> {
  const named = env[setting]?.trim() ?? '';
  if (named === '') return { lists: own, added: [] };
  const file = resolve(ROOT, named);
  if (setting === 'SVC_REGISTRY_FILE') readRegistryFile(file, z.unknown());
  else await loadVenueBindings(file);
  const declared = JSON.parse(readFileSync(file, 'utf8')) as Lists;
  const added: string[] = [];
  const lists = Object.entries(own).map(([list, mine]): readonly [string, readonly Entry[]] => {
    const { key, paths, called } = KINDS[list] ?? { key: '', paths: [], called: list };
    const theirs = (declared[list] ?? []).map((entry) => located(entry, paths, dirname(file)));
    const taken = theirs.find((entry) => mine.some((each) => each[key] === entry[key]));
    if (taken !== undefined)
      throw new DevSettingError(
        `${file}: ${key} ${String(taken[key])} is one of the embedded stack; use another name.`,
      );
    if (theirs.length > 0)
      added.push(
        `${String(theirs.length)} ${called}${theirs.length === 1 ? '' : 's'} of ${named}: ${names(theirs, key)}`,
      );
    return [list, [...mine, ...theirs]];
  });
  return { lists: Object.fromEntries(lists), added };
}

function located(entry: Entry, paths: readonly string[], folder: string): Entry {
  const found = paths.flatMap((place) => {
    const [field = '', ...inner] = place.split('.');
    const value = entry[field];
    if (inner.length > 0 && isObject(value))
      return [[field, located(value, [inner.join('.')], folder)]];
    return inner.length === 0 && typeof value === 'string' ? [[field, resolve(folder, value)]] : [];
  });
  return { ...entry, ...(Object.fromEntries(found) as Entry) };
}

const names = (entries: readonly Entry[], key: string): string =>
  entries.map((entry) => String(entry[key])).join(', ');
