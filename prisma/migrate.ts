import { readFile, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  DriverAdapterError,
  bindMigrationAwareSqlAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type * as EngineGlue from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

const HERE = dirname(fileURLToPath(import.meta.url));
/** Any number that nobody else uses: whoever holds this lock migrates, the others wait. */
const LOCK_KEY = 7_203_118_845;

/** Where the schema and its migrations lie; the project's own when left out. */
export interface MigrationSources {
  schemaPath?: string;
  migrationsDir?: string;
}

/** Migrations could not be applied; the database is as the failed one left it. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/**
 * Applies every migration that the database lacks and answers their names. It does what
 * `prisma migrate deploy` does and writes the same table, through Prisma's engine in WebAssembly,
 * because the native engine has to be downloaded. Several processes may call it at once.
 */
export async function applyMigrations(
  databaseUrl: string,
  sources: MigrationSources = {},
): Promise<string[]> {
  const migrationsDir = sources.migrationsDir ?? join(HERE, 'migrations');
  const folders = await migrationFolders(migrationsDir);
  return withLock(databaseUrl, async () => {
    await refuseStrangers(databaseUrl, folders);
    if ((await pendingMigrations(databaseUrl, migrationsDir)).length === 0) return [];
    const schema = await readFile(sources.schemaPath ?? join(HERE, 'schema.prisma'), 'utf8');
    const adapter = new WholeScriptAdapter({ connectionString: databaseUrl });
    const engine = await startEngine(schema, bindMigrationAwareSqlAdapterFactory(adapter));
    try {
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: {
          baseDir: migrationsDir,
          lockfile: {
            path: 'migration_lock.toml',
            content: await readOrNull(join(migrationsDir, 'migration_lock.toml')),
          },
          migrationDirectories: await Promise.all(
            folders.map((folder) => migration(migrationsDir, folder)),
          ),
          shadowDbInitScript: '',
        },
        filters: { externalTables: [], externalEnums: [] },
      });
      return appliedMigrationNames;
    } catch (error) {
      const failed = await failedMigration(databaseUrl);
      // A script is one transaction, so nothing of the failed one stays and it may be tried again.
      if (failed !== null)
        await engine.markMigrationRolledBack({ migrationName: failed }).catch(() => undefined);
      throw new MigrationError(explain(failed, adapter.lastFault ?? error), { cause: error });
    }
  });
}

/** Names of the migrations that the database has not finished, oldest first. */
export async function pendingMigrations(
  databaseUrl: string,
  migrationsDir: string = join(HERE, 'migrations'),
): Promise<string[]> {
  const finished = new Set(await finishedMigrations(databaseUrl));
  return (await migrationFolders(migrationsDir)).filter((folder) => !finished.has(folder));
}

function finishedMigrations(databaseUrl: string): Promise<string[]> {
  return query(databaseUrl, async (client) => {
    const { rows: found } = await client.query<{ there: boolean }>(
      `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`,
    );
    if (found[0]?.there !== true) return [];
    const { rows } = await client.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    );
    return rows.map((row) => row.migration_name);
  });
}

/**
 * A database with migrations that this build does not have was made by another one; nothing is
 * guessed about it.
 */
async function refuseStrangers(databaseUrl: string, folders: readonly string[]): Promise<void> {
  const strangers = (await finishedMigrations(databaseUrl)).filter(
    (name) => !folders.includes(name),
  );
  if (strangers.length === 0) return;
  throw new MigrationError(
    `The database has migrations that this build does not know (${strangers.join(', ')}). It belongs to an earlier build, from before ` +
      'the first release, whose data cannot be taken over, or to a newer one. Use that build, or begin with an empty database ' +
      '(of the embedded stack: remove its data folder, or set SVC_DATA_DIR to another).',
  );
}

function withLock<T>(databaseUrl: string, work: () => Promise<T>): Promise<T> {
  return query(databaseUrl, async (client) => {
    // The lock goes with its connection, so a process that dies cannot keep it.
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    return work();
  });
}

/**
 * Prisma's adapter cuts a script at every semicolon, also those inside functions, and spreads the
 * pieces over its connections. This one sends a script whole, as Prisma's own engine does, which
 * makes it one transaction.
 */
class WholeScriptAdapter extends PrismaPg {
  lastFault: unknown;

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    adapter.executeScript = async (script) => {
      this.lastFault = undefined;
      await adapter
        .underlyingDriver()
        .query(script)
        .catch((error: unknown) => {
          this.lastFault = error;
          throw new DriverAdapterError(describeFault(error));
        });
    };
    return adapter;
  }
}

type Adapter = ReturnType<typeof bindMigrationAwareSqlAdapterFactory>;

/** The part of WebAssembly's interface that is used; its types belong to a browser's library. */
interface Wasm {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(
    module: object,
    imports: Record<string, object>,
  ): Promise<{ exports: Record<string, () => void> }>;
}

type Glue = typeof EngineGlue & { __wbg_set_wasm(exports: object): void };
/** The package keeps views of one instance's memory for good, so a process can have only one. */
let glue: Promise<Glue> | undefined;

async function startEngine(schema: string, adapter: Adapter): Promise<SchemaEngine> {
  glue ??= loadEngine();
  const { SchemaEngine } = await glue;
  return SchemaEngine.new({ datamodels: [['schema.prisma', schema]] }, () => undefined, adapter);
}

/**
 * The package expects a bundler that understands WebAssembly imports; this is what one would do.
 */
async function loadEngine(): Promise<Glue> {
  const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;
  const folder = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'));
  const loaded = (await import('@prisma/schema-engine-wasm/schema_engine_bg')) as Glue;
  const module = await wasm.compile(await readFile(join(folder, 'schema_engine_bg.wasm')));
  const { exports } = await wasm.instantiate(module, { './schema_engine_bg.js': unheld(loaded) });
  loaded.__wbg_set_wasm(exports);
  exports['__wbindgen_start']?.();
  return loaded;
}

/**
 * The engine's time limits of ten seconds outlive what they limit and would hold up the end of the
 * process; as long as it works the connection of {@link withLock} keeps the process.
 */
function unheld(glue: Glue): Record<string, unknown> {
  const timer = Object.keys(glue).find((name) => name.startsWith('__wbg_setTimeout_'));
  if (timer === undefined) return { ...glue };
  const start = (work: () => void, milliseconds: number): NodeJS.Timeout =>
    setTimeout(work, milliseconds >>> 0).unref();
  return { ...glue, [timer]: start };
}

async function migrationFolders(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

async function migration(
  dir: string,
  folder: string,
): Promise<{
  path: string;
  migrationFile: { path: string; content: { tag: 'ok'; value: string } };
}> {
  const value = await readFile(join(dir, folder, 'migration.sql'), 'utf8');
  return { path: folder, migrationFile: { path: 'migration.sql', content: { tag: 'ok', value } } };
}

async function readOrNull(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}

/** A fault in the only form that the engine understands. */
function describeFault(error: unknown): ConstructorParameters<typeof DriverAdapterError>[0] {
  const fault = error as Partial<pg.DatabaseError>;
  return {
    kind: 'postgres',
    code: fault.code ?? 'XX000',
    severity: fault.severity ?? 'ERROR',
    message: fault.message ?? String(error),
    detail: fault.detail,
    column: fault.column,
    hint: fault.hint,
  };
}

/** Name of a migration that began and did not finish, if there is one. */
async function failedMigration(databaseUrl: string): Promise<string | null> {
  return query(databaseUrl, async (client) => {
    const { rows } = await client.query<{ migration_name: string }>(
      'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL',
    );
    return rows[0]?.migration_name ?? null;
  }).catch(() => null);
}

async function query<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A connection that breaks also fails the query that uses it; that error is the one to report.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function explain(migrationName: string | null, fault: unknown): string {
  const { message, position, where } = fault as {
    message?: string;
    position?: string;
    where?: string;
  };
  const place = [position === undefined ? '' : `at character ${position}`, where ?? ''].filter(
    (part) => part !== '',
  );
  return (
    `The migration ${migrationName ?? '(none begun)'} failed: ${message ?? String(fault)}` +
    `${place.length === 0 ? '' : ` (${place.join(', ')})`}. Correct its migration.sql and start again.`
  );
}
