/** Executors, signers and venues that a file declares for the embedded stack, beside its own. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { readRegistryFile } from '../../executors/registry-file.ts';
import { loadVenueBindings } from '../../venues/bindings.ts';
import { DevSettingError, ROOT } from './ports.ts';

type Entry = Readonly<Record<string, unknown>>;
export type Lists = Readonly<Record<string, readonly Entry[]>>;

/**
 * For each list: the field that names an entry, and the fields that are paths relative to the file.
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
  venues: { key: 'venue_key', paths: ['credentials_file'], called: 'venue' },
};

/**
 * Lists as they are written into the stack's own files, and one line for people on each addition.
 */
export interface Joined {
  readonly lists: Lists;
  readonly added: readonly string[];
}

/**
 * `own` and what the file of the setting declares. The file is read as the service would read it,
 * so that an error names its place in the file.
 *
 * @throws DevSettingError where a name is taken already; whatever the service says of a file that
 *   it cannot use.
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
  const found = paths.flatMap((field) => {
    const path = entry[field];
    return typeof path === 'string' ? [[field, resolve(folder, path)]] : [];
  });
  return { ...entry, ...(Object.fromEntries(found) as Entry) };
}

const names = (entries: readonly Entry[], key: string): string =>
  entries.map((entry) => String(entry[key])).join(', ');
