/**
 * The migration that makes the functions of the database, written from `prisma/functions/`, where
 * the living text of each stands once. `npm run sql:migration` writes it; a test holds the database
 * against the texts.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const FUNCTIONS_FOLDER = join(HERE, 'functions');
export const FUNCTIONS_MIGRATION = join(
  HERE,
  'migrations',
  '20261126000100_functions',
  'migration.sql',
);

/** Folders and files of the living texts by their path from the root, in a fixed order. */
export function functionTexts(): readonly { readonly file: string; readonly text: string }[] {
  return readdirSync(FUNCTIONS_FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      file: `prisma/functions/${name}`,
      text: readFileSync(join(FUNCTIONS_FOLDER, name), 'utf8'),
    }));
}

/**
 * Each function's name, and its body as Postgres keeps it: what stands between the dollar signs.
 */
export function functionBodies(): readonly {
  readonly file: string;
  readonly name: string;
  readonly body: string;
}[] {
  return functionTexts().flatMap(({ file, text }) =>
    [...text.matchAll(/^CREATE OR REPLACE FUNCTION (\w+)[\s\S]*?\$\$([\s\S]*?)\$\$/gm)].map(
      ([, name = '', body = '']) => ({
        file,
        name,
        body,
      }),
    ),
  );
}

/**
 * The whole migration. Bodies are checked when they run: texts may name each other in any order.
 */
export function functionsMigration(): string {
  const head = [
    '-- Written by `npm run sql:migration` from prisma/functions/; not by hand.',
    "SELECT set_config('check_function_bodies', 'off', true);",
    "-- What functions with the owner's rights read and write is never a caller's temporary table.",
    "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);",
  ].join('\n');
  return (
    [head, ...functionTexts().map(({ file, text }) => `-- ${file}\n\n${text.trim()}`)].join(
      '\n\n',
    ) + '\n'
  );
}
