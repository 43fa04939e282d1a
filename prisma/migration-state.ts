/**
 * Compares the migrations of this build with those of a database, by its table `_prisma_migrations`
 * in Prisma's form.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { readReleases, releasedNames, type Release } from './releases.ts';
import { connectOnce } from './servers.ts';

/** The migrations of this build. */
export const MIGRATIONS_DIR = join(dirname(fileURLToPath(import.meta.url)), 'migrations');
/** The command that applies missing migrations, as messages name it. */
export const MIGRATE_COMMAND = 'fundadmin database migrate';

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file in hex. */
  readonly checksum: string;
  /**
   * Whether the file's first line marks it as online: one repeatable statement that must run
   * outside a transaction.
   */
  readonly online: boolean;
}

/** The migrations and the list of releases of a build. */
export interface Build {
  readonly migrations: readonly Migration[];
  readonly releases: readonly Release[];
}

/** A run of a migration that did not finish. */
export interface Attempt {
  readonly name: string;
  readonly started_at: Date;
  /** The error that Postgres reported; null when the migrator ended before that. */
  readonly logs: string | null;
}

export interface MigrationState {
  readonly applied: readonly string[];
  /** The migrations to apply, in order. */
  readonly pending: readonly string[];
  /** Applied migrations that this build does not have. */
  readonly unknown: readonly string[];
  /** Whether the database states that it serves a release that this build is or follows. */
  readonly served: boolean;
  /** Migrations that were applied with another text than this build has. */
  readonly changed: readonly string[];
  /** The last failure of each pending migration; nothing of it was kept. */
  readonly failed: readonly Attempt[];
  /** Runs that started and never ended: a migrator is working, or was lost. */
  readonly unfinished: readonly Attempt[];
}

/** A connection that runs a statement and returns rows. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(text: string): Promise<{ rows: Row[] }>;
}

/** Reads a folder of migrations with its list of releases; this build's folder when absent. */
export async function readBuild(dir: string = MIGRATIONS_DIR): Promise<Build> {
  return { migrations: await readMigrations(dir), releases: readReleases(dir) };
}

/** Reads the migrations of a folder, oldest first. */
async function readMigrations(dir: string): Promise<Migration[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(dir, name, 'migration.sql'), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      return { name, sql, checksum, online: /^-- online\b/.test(sql) };
    }),
  );
}

interface Row extends Attempt {
  readonly checksum: string;
  readonly finished: boolean;
  readonly rolled_back: boolean;
}

/** Returns which of these migrations the database has, according to its table of migrations. */
export async function stateOf(
  database: Queryable,
  { migrations, releases }: Build,
): Promise<MigrationState> {
  const { rows: found } = await database.query<{ there: boolean; serves: string | null }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there,
            obj_description(to_regclass('_prisma_migrations'), 'pg_class') AS serves`,
  );
  const { rows } =
    found[0]?.there === true
      ? await database.query<Row>(
          `SELECT migration_name AS name, checksum, started_at, logs,
                  finished_at IS NOT NULL AS finished, rolled_back_at IS NOT NULL AS rolled_back
           FROM _prisma_migrations ORDER BY started_at`,
        )
      : { rows: [] };
  const checksums = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  const done = rows.filter(({ finished, rolled_back }) => finished && !rolled_back);
  const applied = new Set(done.map(({ name }) => name));
  const pending = [...checksums.keys()].filter((name) => !applied.has(name));
  const unknown = [...applied].filter((name) => !checksums.has(name));
  const last = [...releasedNames(releases)].sort().at(-1) ?? '';
  return {
    applied: [...applied],
    pending,
    // Migrations of a newer release sort after those of all earlier releases.
    served:
      releases.some(({ version }) => found[0]?.serves === servesFrom(version)) &&
      unknown.every((name) => name > last),
    unknown,
    changed: done.flatMap(({ name, checksum }) =>
      checksums.has(name) && checksums.get(name) !== checksum ? [name] : [],
    ),
    failed: pending.flatMap((name) => rows.filter((row) => isFailure(row, name)).slice(-1)),
    unfinished: rows.filter(({ finished, rolled_back }) => !finished && !rolled_back),
  };
}

function isFailure({ name, logs, finished, rolled_back }: Row, of: string): boolean {
  return name === of && rolled_back && !finished && logs !== null;
}

/** Returns the state of the database at this address, with the migrations of a folder. */
export async function readMigrationState(url: string, dir?: string): Promise<MigrationState> {
  return stateAt(url, await readBuild(dir));
}

/**
 * As {@link readMigrationState}, for a caller that has read its build, which a running process
 * never changes.
 */
export async function stateAt(url: string, build: Build): Promise<MigrationState> {
  const client = await connectOnce(url, { connectionTimeoutMillis: 5_000 });
  try {
    return await stateOf(client, build);
  } finally {
    await client.end();
  }
}

/**
 * Returns the table comment by which a database lets the previous release, which does not know the
 * last migrations, continue or start again.
 */
export function servesFrom(version: string): string {
  return `serves releases from ${version} on`;
}

/** Returns why a process of this build must not use the database, and a remedy; else null. */
export function schemaFault(state: MigrationState): string | null {
  const { pending } = state;
  const strange = strangeness(state);
  if (strange !== null) return strange;
  return pending.length === 0
    ? null
    : `Migrations are not applied: ${pending.join(', ')}. Apply them as the owner of the database: ${MIGRATE_COMMAND}.`;
}

/** Returns why a database can never match this build, even with more migrations; else null. */
export function strangeness(state: MigrationState): string | null {
  const { pending, unknown, changed, served } = state;
  // Migrations of another build cannot be applied after newer ones.
  if (unknown.length > 0 && (!served || pending.length > 0)) return describeUnknown(unknown);
  return changed.length > 0 ? describeChanged(changed) : null;
}

function describeUnknown(names: readonly string[]): string {
  return (
    `The database has migrations that this build does not know: ${names.join(', ')}. It belongs to a newer build, or to an earlier build ` +
    `from before the first release, whose data cannot be taken over. ${OTHER_BUILD}`
  );
}

function describeChanged(names: readonly string[]): string {
  return (
    `Migrations were applied with another text than this build has: ${names.join(', ')}. The database belongs to an earlier build from ` +
    `before the first release, whose data cannot be taken over. ${OTHER_BUILD}`
  );
}

const OTHER_BUILD =
  `Use that build (${MIGRATE_COMMAND} of a newer one brings an older database up to date), or start with an empty database ` +
  '(of the embedded stack: remove its data folder, or set SVC_DATA_DIR to another).';
