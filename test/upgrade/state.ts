/**
 * What a release left behind, in a folder of its own: its database as statements, the books of the
 * venue and of the chain beside it, what its API answered about all of it, and what was open.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { ROOT } from '../../dev/stack/ports.ts';
import { readBuild } from '../../prisma/migration-state.ts';
import type { Release } from '../../prisma/releases.ts';
import type { Answers } from './answers.ts';
import type { Left } from './life.ts';

/** One folder for each release, called by its version. */
export const STATES = join(ROOT, 'test', 'upgrade', 'states');

/** What stands in `state.json`, to be read by people too. */
export interface StateFacts {
  readonly version: string;
  readonly recorded_at: string;
  /** Every migration that the database has, with the SHA-256 of its file. */
  readonly migrations: Readonly<Record<string, string>>;
  /** Head of the audit trail, as `audit verify --expect-head` takes it. */
  readonly audit_head: string;
  readonly left: Left;
}

export interface RecordedState extends StateFacts {
  readonly folder: string;
}

const FACTS = 'state.json';
const DATABASE = 'database.sql.gz';
const BOOKS = 'books.json.gz';
const ANSWERS = 'answers.json.gz';

/** Files of a stack's folder that are made anew, or belong to one machine. */
const NOT_KEPT =
  /^(postgres|temporal|logs|stack|clients|chain\.json|config\/(?!dev-keys|secrets)|[^/]*\.(lock|pid)$)/;

export function readStates(dir: string = STATES): readonly RecordedState[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir).map((name) => readState(join(dir, name)));
}

export function readState(folder: string): RecordedState {
  const facts = JSON.parse(readFileSync(join(folder, FACTS), 'utf8')) as StateFacts;
  return { ...facts, folder };
}

export function readAnswers({ folder }: RecordedState): Answers {
  return JSON.parse(unpacked(join(folder, ANSWERS))) as Answers;
}

/** What is wrong with the recorded states: each release has one, made of its own migrations. */
export function stateFaults(
  releases: readonly Release[],
  states: readonly StateFacts[],
): readonly string[] {
  const recorded = new Map(states.map((state) => [state.version, state]));
  let migrations: Readonly<Record<string, string>> = {};
  return releases.flatMap((release) => {
    migrations = { ...migrations, ...release.migrations };
    const state = recorded.get(release.version);
    if (state === undefined)
      return [
        `${release.version} is released and its data is not recorded: npm run release:state.`,
      ];
    return same(migrations, state.migrations)
      ? []
      : [
          `test/upgrade/states/${release.version} was recorded from other migrations than were released: remove it, and npm run release:state.`,
        ];
  });
}

function same(one: StateFacts['migrations'], other: StateFacts['migrations']): boolean {
  const sorted = (each: StateFacts['migrations']): string =>
    JSON.stringify(Object.entries(each).sort());
  return sorted(one) === sorted(other);
}

/** Writes a state into a folder. Nothing may write to the database or the data folder meanwhile. */
export async function writeState(
  folder: string,
  from: { readonly databaseUrl: string; readonly dataDir: string },
  facts: Omit<StateFacts, 'migrations' | 'recorded_at'>,
  answers: Answers,
): Promise<void> {
  const { migrations } = await readBuild();
  const state: StateFacts = {
    ...facts,
    recorded_at: new Date().toISOString(),
    migrations: Object.fromEntries(migrations.map(({ name, checksum }) => [name, checksum])),
  };
  mkdirSync(folder, { recursive: true });
  packed(join(folder, DATABASE), await dump(from.databaseUrl));
  packed(join(folder, BOOKS), JSON.stringify(booksOf(from.dataDir)));
  packed(join(folder, ANSWERS), JSON.stringify(answers));
  // Last: a folder without it is none.
  writeFileSync(join(folder, FACTS), `${JSON.stringify(state, null, 2)}\n`);
}

/** Every row of every table, as statements that Postgres alone reads. */
async function dump(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("SET TimeZone = 'UTC'");
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const { rows: tables } = await client.query<{ name: string; columns: string; values: string }>(
      // Generated columns are made again by Postgres, the notes of the migrator by the migrator.
      `SELECT format('%I', c.relname) AS name,
         string_agg(format('%I', a.attname), ', ' ORDER BY a.attnum) AS columns,
         string_agg(format('quote_nullable(%I::text)', a.attname), ', ' ORDER BY a.attnum) AS values
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
         AND NOT a.attisdropped AND a.attgenerated = '' AND c.relname NOT LIKE '\\_prisma%'
       GROUP BY c.relname ORDER BY c.relname`,
    );
    const lines = [
      '-- Every table of a release, with rows in it. Restored into its tables, which its migrations make.',
      'BEGIN;',
      "SET LOCAL TimeZone = 'UTC';",
      '-- Neither triggers nor foreign keys speak while rows are put back.',
      'SET LOCAL session_replication_role = replica;',
      `TRUNCATE ${tables.map(({ name }) => name).join(', ')};`,
    ];
    for (const { name, columns, values } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `SELECT concat_ws(', ', ${values}) AS row FROM ${name} ORDER BY 1`,
      );
      for (const { row } of rows)
        lines.push(`INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE VALUES (${row});`);
    }
    return [...lines, 'COMMIT;', ''].join('\n');
  } finally {
    await client.end();
  }
}

/** Puts its rows into a database that has its migrations and no other. */
export async function restoreRows({ folder }: RecordedState, databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(unpacked(join(folder, DATABASE)));
  } finally {
    await client.end();
  }
}

/** What the venue and the chain have noted, and the keys of the callers. */
export function restoreBooks({ folder }: RecordedState, dataDir: string): void {
  const files = JSON.parse(unpacked(join(folder, BOOKS))) as Readonly<Record<string, string>>;
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dataDir, path)), { recursive: true });
    writeFileSync(join(dataDir, path), Buffer.from(content, 'base64'), { mode: 0o600 });
  }
}

function booksOf(dataDir: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(dataDir, join(entry.parentPath, entry.name)))
      .filter((path) => !NOT_KEPT.test(path))
      .sort()
      .map((path) => [path, readFileSync(join(dataDir, path)).toString('base64')]),
  );
}

function packed(file: string, text: string): void {
  writeFileSync(file, gzipSync(text, { level: 9 }));
}

function unpacked(file: string): string {
  return gunzipSync(readFileSync(file)).toString('utf8');
}
