/**
 * The migration that makes the functions of the database, written from `prisma/functions/`, where
 * the living text of each stands once. `npm run sql:migration` writes it; a test holds the database
 * against the texts. What is released is left as it is: a function that changed since stands in a
 * new migration.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readReleases, releasedNames } from './releases.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const FUNCTIONS_FOLDER = join(HERE, 'functions');
const MIGRATIONS_FOLDER = join(HERE, 'migrations');
/** A function with the comments above it and what follows it, such as its rights. */
const EACH_FUNCTION =
  /^(?:--[^\n]*\n)*CREATE OR REPLACE FUNCTION (\w+)[\s\S]*?(?=^(?:--[^\n]*\n)*CREATE OR REPLACE FUNCTION|(?![\s\S]))/gm;

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

/** Where the living texts and the migrations lie, for tests. */
export interface Places {
  readonly texts?: ReturnType<typeof functionTexts>;
  readonly migrationsDir?: string;
  readonly now?: Date;
}

/**
 * The migration that is not released yet, as it must be; null where the released ones have every
 * function as it is. Bodies are checked when they run: texts may name each other in any order.
 */
export function functionsMigration({
  texts = functionTexts(),
  migrationsDir = MIGRATIONS_FOLDER,
  now = new Date(),
}: Places = {}): { readonly file: string; readonly text: string } | null {
  const released = releasedNames(readReleases(migrationsDir));
  const names = readdirSync(migrationsDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  const written = names.filter((name) => name.endsWith('_functions'));
  const before = new Map(
    written
      .filter((name) => released.has(name))
      .flatMap((name) =>
        functionsOf(readFileSync(join(migrationsDir, name, 'migration.sql'), 'utf8')),
      )
      .map(({ name, statement }) => [name, statement]),
  );
  const changed = texts.flatMap(({ file, text }) => {
    if (before.size === 0) return [`-- ${file}\n\n${text.trim()}`];
    const parts = functionsOf(text).filter(({ name, statement }) => before.get(name) !== statement);
    return parts.length === 0
      ? []
      : [[`-- ${file}`, ...parts.map(({ whole }) => whole)].join('\n\n')];
  });
  if (changed.length === 0) return null;
  const name =
    written.find((each) => !released.has(each)) ?? `${stampAfter(names.at(-1), now)}_functions`;
  const head = [
    '-- Written by `npm run sql:migration` from prisma/functions/; not by hand.',
    "SELECT set_config('check_function_bodies', 'off', true);",
    "-- What functions with the owner's rights read and write is never a caller's temporary table.",
    "SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true);",
  ].join('\n');
  return {
    file: join(migrationsDir, name, 'migration.sql'),
    text: `${[head, ...changed].join('\n\n')}\n`,
  };
}

/** The unreleased migration of functions that is there and that no function needs any more. */
export function needlessMigration(migrationsDir: string = MIGRATIONS_FOLDER): string | null {
  const released = releasedNames(readReleases(migrationsDir));
  const folder = readdirSync(migrationsDir).find(
    (name) => name.endsWith('_functions') && !released.has(name),
  );
  if (folder === undefined || functionsMigration({ migrationsDir }) !== null) return null;
  return join(migrationsDir, folder);
}

/** Each function of a text: its statement, which decides whether it changed, and its comments. */
function functionsOf(
  text: string,
): readonly { readonly name: string; readonly statement: string; readonly whole: string }[] {
  return [...text.matchAll(EACH_FUNCTION)].map(([part, name = '']) => {
    const lines = part.split('\n');
    // What stands behind it belongs to the next text.
    while (/^\s*(--.*)?$/.test(lines.at(-1) ?? 'x')) lines.pop();
    const whole = lines.join('\n');
    return { name, whole, statement: whole.slice(whole.indexOf('CREATE OR REPLACE FUNCTION')) };
  });
}

/** A time in the form of migrations' names, after that of the last one. */
function stampAfter(last: string | undefined, now: Date): string {
  const stamp = now.toISOString().replace(/\D/g, '').slice(0, 14);
  const earliest = String(Number(/^\d+/.exec(last ?? '')?.[0] ?? 0) + 1);
  return stamp > earliest ? stamp : earliest;
}
