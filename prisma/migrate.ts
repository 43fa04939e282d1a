/**
 * Applies migrations as `prisma migrate deploy` does, with the same table, but over the driver
 * alone, so that a production build needs no Prisma engine.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { grantWithin } from './grant.ts';
import { connectOnce } from './servers.ts';
import {
  MIGRATE_COMMAND,
  readBuild,
  servesFrom,
  stateOf,
  strangeness,
  type Build,
  type Migration,
  type MigrationState,
} from './migration-state.ts';
import { releaseBefore } from './releases.ts';

/**
 * A number that no other program uses as a lock: the process that holds this lock migrates; others
 * wait.
 */
const LOCK_KEY = 7_203_118_845;
const TURN_POLL_MS = 500;
/** Milliseconds between reports of a wait. */
const REPORT_MS = 10_000;
/** SQLSTATEs of a lock time-out and a deadlock: nothing was kept, and another try may succeed. */
const TRIED_AGAIN: readonly unknown[] = ['55P03', '40P01'];

/** The table exactly as Prisma creates it. */
const TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                      VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum                VARCHAR(64) NOT NULL,
    finished_at             TIMESTAMPTZ,
    migration_name          VARCHAR(255) NOT NULL,
    logs                    TEXT,
    rolled_back_at          TIMESTAMPTZ,
    started_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count     INTEGER NOT NULL DEFAULT 0
)`;

export interface MigrateOptions {
  /** Absent: the project's own folder. */
  readonly migrationsDir?: string;
  /**
   * The role of the service, which gets its rights with each migration: processes of the release
   * before run on, and a new body of a function that they call may read a new table.
   */
  readonly grantTo?: string | undefined;
  /** How long a statement waits for a lock, while other sessions queue behind it. */
  readonly lockTimeoutMs?: number;
  /**
   * Number of tries of a migration that does not get its locks; `pauseMs` is the pause between
   * tries.
   */
  readonly tries?: number;
  readonly pauseMs?: number;
  /** Called with a line for everything that takes long or fails; absent: no reports. */
  readonly report?: (line: string) => void;
}

/** Migrations could not be applied. The message says which ones, why, and what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/**
 * Applies every migration that the database lacks; returns their names. The address must be the
 * owner's and direct: the migrator's lock belongs to its session, and a pooler would change
 * sessions.
 */
export async function applyMigrations(
  databaseUrl: string,
  options: MigrateOptions = {},
): Promise<string[]> {
  const build = await readBuild(options.migrationsDir);
  return withConnection(databaseUrl, (client) =>
    withConnection(databaseUrl, async (observer) => {
      const run = await startRun({ client, observer, databaseUrl }, { ...options, build });
      await takeTurn(run);
      const missing = await prepare(run, build);
      for (const migration of missing) {
        await (migration.online ? applyOnline(run, migration) : applyWhole(run, migration));
        run.report(`applied ${migration.name}`);
      }
      return missing.map(({ name }) => name);
    }),
  );
}

interface Run {
  readonly databaseUrl: string;
  /** Holds the lock and does the work, so that neither can outlast the other. */
  readonly client: pg.Client;
  /** Finds the sessions that block the other connection. */
  readonly observer: pg.Client;
  readonly pid: number;
  /**
   * The table comment that the database gets: the releases that it serves after the migrations of
   * this build.
   */
  readonly serves: string;
  readonly grantTo: string | undefined;
  readonly lockTimeoutMs: number;
  readonly tries: number;
  readonly pauseMs: number;
  readonly report: (line: string) => void;
}

async function startRun(
  connections: Pick<Run, 'client' | 'observer' | 'databaseUrl'>,
  {
    grantTo,
    lockTimeoutMs = 3_000,
    tries = 20,
    pauseMs = 5_000,
    report = () => undefined,
    build: { releases, migrations },
  }: MigrateOptions & { readonly build: Build },
): Promise<Run> {
  const { client } = connections;
  // Limits that a role or a database sets for its sessions must not apply to this session.
  const { rows } = await client.query<{ pid: number }>(
    `SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false),
            set_config('idle_in_transaction_session_timeout', '0', false),
            pg_backend_pid() AS pid`,
  );
  const pid = rows[0]?.pid ?? 0;
  const before = releaseBefore(releases, migrations);
  const serves = before === null ? 'NULL' : client.escapeLiteral(servesFrom(before));
  return { ...connections, pid, serves, grantTo, lockTimeoutMs, tries, pauseMs, report };
}

/**
 * Polls for the lock instead of waiting for it. A waiting statement keeps its snapshot, and
 * building an index concurrently waits for every older snapshot, which would be a deadlock. The
 * lock ends with its connection, so a process that dies cannot keep it.
 */
async function takeTurn({ client, observer, report }: Run): Promise<void> {
  for (let round = 0; ; round += 1) {
    const { rows } = await client.query<{ taken: boolean }>(
      'SELECT pg_try_advisory_lock($1::bigint) AS taken',
      [LOCK_KEY],
    );
    if (rows[0]?.taken === true) return;
    if ((round * TURN_POLL_MS) % REPORT_MS === 0) {
      const holders = await sessions(
        observer,
        `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND classid::bigint << 32 | objid::bigint = ${String(LOCK_KEY)} AND objsubid = 1`,
      );
      report(`waiting for another migrator to end: ${holders}`);
    }
    await sleep(TURN_POLL_MS);
  }
}

/** Returns the migrations to apply, after checking that this build may change the database. */
async function prepare({ client, report }: Run, build: Build): Promise<Migration[]> {
  const { migrations } = build;
  const state = await stateOf(client, build);
  const strange = strangeness(state);
  if (strange !== null) throw new MigrationError(strange);
  if (state.pending.length === 0) return [];
  await refuseOtherOwner(client);
  await client.query(TABLE).catch(refuse);
  await clearUnfinished(client, migrations, state);
  for (const { name, started_at, logs } of state.failed)
    report(`${name} failed at ${started_at.toISOString()} (${logs ?? ''}) and is tried again`);
  return migrations.filter(({ name }) => state.pending.includes(name));
}

/** Throws if another role owns the tables: new objects would belong to this role instead. */
async function refuseOtherOwner(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ role: string; owner: string }>(
    `SELECT current_user AS role, relowner::regrole::text AS owner FROM pg_class
     WHERE oid = to_regclass('_prisma_migrations') AND NOT pg_has_role(relowner, 'MEMBER')`,
  );
  const [found] = rows;
  if (found === undefined) return;
  throw new MigrationError(
    `The role ${found.role} does not own the tables; ${found.owner} does. Connect as ${found.owner}.`,
  );
}

/**
 * Handles migrations that started and never ended. A migration in a transaction has no row until it
 * is done, so these are online migrations, which can be repeated, or another program's.
 */
async function clearUnfinished(
  client: pg.Client,
  migrations: readonly Migration[],
  { unfinished }: MigrationState,
): Promise<void> {
  for (const { name, started_at } of unfinished) {
    if (migrations.some((each) => each.name === name && each.online)) {
      await client.query(
        `UPDATE _prisma_migrations SET rolled_back_at = now()
         WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
        [name],
      );
      continue;
    }
    throw new MigrationError(
      `${name} was started at ${started_at.toISOString()} by another program, and its end is not recorded. Look whether the database has what it makes. ` +
        `If nothing of it is there: UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '${name}' AND finished_at IS NULL; ` +
        `if all of it is: UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE migration_name = '${name}' AND finished_at IS NULL. Then ${MIGRATE_COMMAND} again.`,
    );
  }
}

/** Applies the script, grants the rights and writes the migration's row in one transaction. */
async function applyWhole(run: Run, migration: Migration): Promise<void> {
  const { client, grantTo, report, lockTimeoutMs, tries, pauseMs } = run;
  for (let attempt = 1; ; attempt += 1) {
    const watch = watchBlockers(run, lockTimeoutMs / 4);
    const startedAt = new Date();
    let committing: string | null = null;
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = ${String(lockTimeoutMs)}`);
      await refuseWithoutTurn(client);
      const id = await noteStart(run, migration);
      await client.query(migration.sql);
      if (grantTo !== undefined) await grantWithin(client, grantTo);
      await noteEnd(client, id);
      committing = id;
      await client.query('COMMIT');
      return;
    } catch (error) {
      if (committing !== null && isLost(error)) throw await unanswered(run, migration, committing);
      await client.query('ROLLBACK').catch(() => undefined);
      if (error instanceof MigrationError) throw error;
      if (!TRIED_AGAIN.includes((error as Partial<pg.DatabaseError>).code)) {
        await noteFailure(client, migration, startedAt, error).catch(() => undefined);
        throw failure(migration, error);
      }
      const why = `${migration.name} did not get its locks within ${String(lockTimeoutMs)} ms, held by ${watch.last()}`;
      if (attempt >= tries)
        throw new MigrationError(
          `${why}, ${String(tries)} times. Nothing of it was kept. End what holds them (SELECT pg_terminate_backend(<pid>)) or wait for it, then ${MIGRATE_COMMAND} again.`,
          { cause: error },
        );
      report(`${why}; try ${String(attempt + 1)} of ${String(tries)} in ${String(pauseMs)} ms`);
    } finally {
      await watch.stop();
    }
    await sleep(pauseMs);
  }
}

/** Returns whether the server has not reported the outcome of a commit. */
function isLost(error: unknown): boolean {
  const { code = '' } = error as Partial<pg.DatabaseError>;
  return !/^[0-9A-Z]{5}$/.test(code) || /^(08|57P0)/.test(code);
}

/** Returns the error for a commit without answer; looks for the row over a new connection. */
async function unanswered(
  { databaseUrl }: Run,
  { name }: Migration,
  id: string,
): Promise<MigrationError> {
  const found = await withConnection(databaseUrl, async (client) => {
    const { rows } = await client.query(`SELECT FROM _prisma_migrations WHERE id = $1`, [id]);
    return rows.length > 0;
  }).catch(() => null);
  const lost = `The connection was lost while ${name} was committed`;
  if (found === true)
    return new MigrationError(
      `${lost}. It is applied: the database has it. ${MIGRATE_COMMAND} again applies what is left.`,
    );
  const looked =
    found === null
      ? 'the database does not answer now'
      : 'the database does not show it, and will not before a commit that waits for a synchronous standby is over';
  return new MigrationError(
    `${lost}. It is not known whether it is applied: ${looked}. Look with fundadmin database status; ${MIGRATE_COMMAND} again is safe, and applies it only if it is missing.`,
  );
}

/**
 * Applies an online migration without a lock time-out: such a statement lets other sessions read
 * and write while it waits for them.
 */
async function applyOnline(run: Run, migration: Migration): Promise<void> {
  const { client, report } = run;
  await refuseWithoutTurn(client);
  const id = await noteStart(run, migration);
  const watch = watchBlockers(run, REPORT_MS, (blockers) => {
    report(`${migration.name} waits for ${blockers}`);
  });
  try {
    await dropInvalidIndexes(client, migration);
    // In extended mode Postgres accepts one statement only, and refuses a second.
    const statement = { text: migration.sql, queryMode: 'extended' };
    await client.query(statement);
    await noteEnd(client, id);
  } catch (error) {
    await client
      .query(`UPDATE _prisma_migrations SET logs = $2, rolled_back_at = now() WHERE id = $1`, [
        ...[id, inWords(error)],
      ])
      .catch(() => undefined);
    throw failure(migration, error);
  } finally {
    await watch.stop();
  }
}

/**
 * Drops invalid indexes that the statement names. An interrupted index build leaves an index that
 * is never used but would count as existing.
 */
async function dropInvalidIndexes(client: pg.Client, { sql }: Migration): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('%I', relname) AS name FROM pg_index JOIN pg_class c ON c.oid = indexrelid
     WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace
       AND $1 ~ ('\\m' || relname || '\\M')`,
    [sql],
  );
  for (const { name } of rows) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}

/**
 * Throws when this session does not hold the lock: behind a pooler, each transaction may have
 * another session.
 */
async function refuseWithoutTurn(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()
       AND classid::bigint << 32 | objid::bigint = $1 AND objsubid = 1`,
    [LOCK_KEY],
  );
  if (rows.length > 0) return;
  throw new MigrationError(
    'This connection does not keep its session. Connect to Postgres directly, not through a pooler.',
  );
}

async function noteStart({ client, serves }: Run, { name, checksum }: Migration): Promise<string> {
  const id = randomUUID();
  await client.query(`COMMENT ON TABLE _prisma_migrations IS ${serves}`);
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at)
     VALUES ($1, $2, $3, clock_timestamp())`,
    [id, checksum, name],
  );
  return id;
}

async function noteEnd(client: pg.Client, id: string): Promise<void> {
  await client.query(
    `UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1
     WHERE id = $1`,
    [id],
  );
}

/** Records a failure in Prisma's form: nothing was kept, and the migration may be repeated. */
async function noteFailure(
  client: pg.Client,
  { name, checksum }: Migration,
  startedAt: Date,
  error: unknown,
): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, logs, started_at, rolled_back_at)
     VALUES ($1, $2, $3, $4, $5, clock_timestamp())`,
    [randomUUID(), checksum, name, inWords(error), startedAt],
  );
}

/** Polls for sessions that block the run's connection, and remembers the last ones found. */
function watchBlockers(
  { observer, pid }: Run,
  everyMs: number,
  found: (blockers: string) => void = () => undefined,
): { last(): string; stop(): Promise<void> } {
  let last: string | null = null;
  const stopping = new AbortController();
  const watching = (async () => {
    for (;;) {
      await sleep(everyMs, undefined, { signal: stopping.signal });
      const blockers = await sessions(
        observer,
        `SELECT unnest(pg_blocking_pids(${String(pid)})) AS pid`,
      );
      if (blockers === '') continue;
      last = blockers;
      found(blockers);
    }
  })().catch(() => undefined);
  return {
    last: () => last ?? 'a session that could not be seen',
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
}

/**
 * Describes the sessions whose ids a query returns; their statements are visible only to roles with
 * that right.
 */
async function sessions(observer: pg.Client, pids: string): Promise<string> {
  const { rows } = await observer.query<{ text: string }>(
    `SELECT format('pid %s (%s)', pid, concat_ws(', ', usename, nullif(application_name, ''),
         state, 'transaction of ' || extract(epoch FROM now() - xact_start)::integer || ' s',
         left(regexp_replace(query, '\\s+', ' ', 'g'), 80))) AS text
     FROM (${pids}) named JOIN pg_stat_activity USING (pid) ORDER BY pid`,
  );
  return rows.map(({ text }) => text).join('; ');
}

function failure({ name, online }: Migration, error: unknown): MigrationError {
  const kept = online ? 'What it left is removed by the next try' : 'Nothing of it was kept';
  return new MigrationError(
    `The migration ${name} failed: ${inWords(error)}. ${kept}. Mend what it names, then ${MIGRATE_COMMAND} again.`,
    { cause: error },
  );
}

function inWords(error: unknown): string {
  const { message, detail, position, where } = error as Partial<pg.DatabaseError>;
  const more = [detail, position && `at character ${position}`, where].filter(
    (part) => part !== undefined && part !== '',
  );
  return `${message ?? String(error)}${more.length === 0 ? '' : ` (${more.join(', ')})`}`;
}

function refuse(error: unknown): never {
  throw new MigrationError(
    `The table of migrations cannot be made: ${inWords(error)}. Connect as the owner of the database.`,
    { cause: error },
  );
}

async function withConnection<T>(
  databaseUrl: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  // The building of an index may take an hour without traffic, so the connection is kept alive.
  const client = await connectOnce(databaseUrl, {
    application_name: 'fundadmin database migrate',
  });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
