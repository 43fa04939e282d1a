/**
 * Writes the migration of the SQL functions from `prisma/functions/`, which has the present text of
 * each function once. `npm run sql:migration` runs this; a test compares the database with the
 * texts. A migration that is released, or that another one follows, is never rewritten: functions
 * that changed later are in a new migration.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readReleases, releasedNames } from './releases.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const FUNCTIONS_FOLDER = join(HERE, 'functions');
const MIGRATIONS_FOLDER = join(HERE, 'migrations');
/**
 * Matches a function with the comments above it and the statements after it, such as its rights.
 */
const EACH_FUNCTION =
  /^(?:--[^\n]*\n)*CREATE OR REPLACE FUNCTION (\w+)[\s\S]*?(?=^(?:--[^\n]*\n)*CREATE OR REPLACE FUNCTION|(?![\s\S]))/gm;

/** Returns the present SQL texts with their paths from the repository root, in a fixed order. */
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
 * Returns each function's definition, its name, and its body as Postgres stores it: the text
 * between the dollar signs.
 */
export function functionBodies(): readonly {
  readonly file: string;
  readonly definition: string;
  readonly name: string;
  readonly body: string;
}[] {
  return functionTexts().flatMap(({ file, text }) =>
    [...text.matchAll(/^CREATE OR REPLACE FUNCTION (\w+)[\s\S]*?\$\$([\s\S]*?)\$\$/gm)].map(
      ([definition, name = '', body = '']) => ({
        file,
        definition,
        name,
        body,
      }),
    ),
  );
}

/** Where the SQL texts and the migrations are, for tests. */
export interface Places {
  readonly texts?: ReturnType<typeof functionTexts>;
  readonly migrationsDir?: string;
  readonly now?: Date;
}

/**
 * Returns the last migration of functions as it must be; null when earlier migrations contain every
 * function unchanged. Postgres checks bodies when they run, so functions may call each other in any
 * order.
 */
export function functionsMigration({
  texts = functionTexts(),
  migrationsDir = MIGRATIONS_FOLDER,
  now = new Date(),
}: Places = {}): { readonly file: string; readonly text: string } | null {
  const names = migrationNames(migrationsDir);
  const open = openMigration(migrationsDir);
  const before = new Map(
    names
      .filter((name) => name.endsWith('_functions') && name !== open)
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
  const name = open ?? `${stampAfter(names.at(-1), now)}_functions`;
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

/** Returns the folder of an unreleased functions migration that no function needs; else null. */
export function needlessMigration(migrationsDir: string = MIGRATIONS_FOLDER): string | null {
  const open = openMigration(migrationsDir);
  if (open === undefined || functionsMigration({ migrationsDir }) !== null) return null;
  return join(migrationsDir, open);
}

/**
 * Returns the functions migration that may be rewritten: the last of all migrations, if not
 * released.
 */
function openMigration(migrationsDir: string): string | undefined {
  const last = migrationNames(migrationsDir).at(-1);
  const released = releasedNames(readReleases(migrationsDir));
  return last?.endsWith('_functions') === true && !released.has(last) ? last : undefined;
}

function migrationNames(migrationsDir: string): readonly string[] {
  return readdirSync(migrationsDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/**
 * Returns each function in a text: `statement` decides whether it changed; `whole` includes its
 * comments.
 */
function functionsOf(
  text: string,
): readonly { readonly name: string; readonly statement: string; readonly whole: string }[] {
  return [...text.matchAll(EACH_FUNCTION)].map(([part, name = '']) => {
    const lines = part.split('\n');
    // The comments after a function belong to the next function.
    while (/^\s*(--.*)?$/.test(lines.at(-1) ?? 'x')) lines.pop();
    const whole = lines.join('\n');
    return { name, whole, statement: whole.slice(whole.indexOf('CREATE OR REPLACE FUNCTION')) };
  });
}

/** Returns a time in the format of migration names, later than the last migration's. */
function stampAfter(last: string | undefined, now: Date): string {
  const stamp = now.toISOString().replace(/\D/g, '').slice(0, 14);
  const earliest = String(Number(/^\d+/.exec(last ?? '')?.[0] ?? 0) + 1);
  return stamp > earliest ? stamp : earliest;
}
