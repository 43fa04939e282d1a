/**
 * Which migrations this build has, and which of them a database has: `_prisma_migrations`, in the
 * form in which Prisma keeps it.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { connectOnce } from './servers.ts';

const MIGRATIONS_DIR = join(dirname(fileURLToPath(import.meta.url)), 'migrations');
/** The command that applies what is missing, as messages name it. */
export const MIGRATE_COMMAND = 'fundadmin database migrate';

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file in hex. */
  readonly checksum: string;
  /** One repeatable statement that no transaction may hold, as its first line says. */
  readonly online: boolean;
}

/** A run of a migration that did not reach its end. */
export interface Attempt {
  readonly name: string;
  readonly started_at: Date;
  /** What Postgres said; null where the migrator ended before it was told. */
  readonly logs: string | null;
}

export interface MigrationState {
  readonly applied: readonly string[];
  /** In the order in which they have to be applied. */
  readonly pending: readonly string[];
  /** Applied, and not of this build. */
  readonly unknown: readonly string[];
  /** Applied with another text than this build has. */
  readonly changed: readonly string[];
  /** The last failure of each pending one; nothing of it was kept. */
  readonly failed: readonly Attempt[];
  /** Started and never ended: a migrator is at work, or was lost. */
  readonly unfinished: readonly Attempt[];
}

/** Something that answers a statement with rows. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(text: string): Promise<{ rows: Row[] }>;
}

/** The migrations of a folder, of this build when left out, oldest first. */
export async function readMigrations(dir: string = MIGRATIONS_DIR): Promise<Migration[]> {
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

/** What the database has of these migrations, by its own table. */
export async function stateOf(
  database: Queryable,
  migrations: readonly Migration[],
): Promise<MigrationState> {
  const { rows: found } = await database.query<{ there: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`,
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
  return {
    applied: [...applied],
    pending,
    unknown: [...applied].filter((name) => !checksums.has(name)),
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

/** The same of the database at this address, over a connection of its own. */
export async function readMigrationState(url: string, dir?: string): Promise<MigrationState> {
  const migrations = await readMigrations(dir);
  const client = await connectOnce(url, { connectionTimeoutMillis: 5_000 });
  try {
    return await stateOf(client, migrations);
  } finally {
    await client.end();
  }
}

/** Why a process of this build may not work on the database, and what to do; null when it may. */
export function schemaFault({ pending, unknown, changed }: MigrationState): string | null {
  const faults = [
    ...(unknown.length === 0 ? [] : [describeUnknown(unknown)]),
    ...(changed.length === 0 ? [] : [describeChanged(changed)]),
    ...(pending.length === 0
      ? []
      : [
          `Migrations are not applied: ${pending.join(', ')}. Apply them as the owner of the database: ${MIGRATE_COMMAND}.`,
        ]),
  ];
  return faults.length === 0 ? null : faults.join(' ');
}

/** What keeps a database from being this build's for good: applying more would not mend it. */
export function strangeness({ unknown, changed }: MigrationState): string | null {
  if (unknown.length > 0) return describeUnknown(unknown);
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
