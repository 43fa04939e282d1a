/** Builds the part of docs/architecture.md that says which folder may import which. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { between } from './between.ts';

export interface Folder {
  readonly folder: string;
  readonly holds: string;
  /** Folders of this repository that this folder may import, besides itself. */
  readonly may_import: readonly string[] | 'anything';
}

interface Imports {
  readonly folders: readonly Folder[];
  /** Packages that only these folders may import, besides folders that may import anything. */
  readonly package_homes: Readonly<Record<string, readonly string[]>>;
}

/** Reads the table of imports, which the check of imports uses too. */
export function readImports(): Imports {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'imports.json'), 'utf8')) as Imports;
}

/** Returns `page` with the up-to-date part. Throws when the page has no place for it. */
export function withImports(page: string): string {
  const { folders, package_homes } = readImports();
  return between(page, 'imports', [...folderTable(folders), '', ...packageTable(package_homes)]);
}

function folderTable(folders: Imports['folders']): readonly string[] {
  const rows = folders.map(
    ({ folder, holds, may_import }) =>
      `| \`${folder}/\` | ${holds} | ${words(may_import, 'nothing of ours')} |`,
  );
  return ['| folder | holds | may import |', '|---|---|---|', ...rows];
}

function packageTable(packageHomes: Imports['package_homes']): readonly string[] {
  const rows = Object.entries(packageHomes).map(([name, homes]) => {
    const all = name.endsWith('/') ? `${name}*` : name;
    return `| \`${all}\` | ${words(homes, 'none')} |`;
  });
  return ['| package | only used in |', '|---|---|', ...rows];
}

function words(names: readonly string[] | 'anything', none: string): string {
  if (names === 'anything') return names;
  return names.length === 0 ? none : names.join(', ');
}
