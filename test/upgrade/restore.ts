/** A recorded state in a cluster of its own, as an operator finds it before an upgrade. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../dev/stack/ports.ts';
import { postgresPart } from '../../dev/stack/postgres.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { applyMigrations } from '../../prisma/migrate.ts';
import { MIGRATIONS_DIR, readBuild } from '../../prisma/migration-state.ts';
import { RELEASES_FILE } from '../../prisma/releases.ts';
import { copyCluster } from '../support/migrated-cluster.ts';
import { restoreBooks, restoreRows, type RecordedState } from './state.ts';

export interface Restored {
  readonly dataDir: string;
  /** As the owner. */
  readonly url: string;
  /** By how much what is open was moved, so that no time of it is over that was not. */
  readonly shiftMs: number;
  /** Copies of the database beside it. */
  copy(...names: readonly string[]): Promise<void>;
  /** Ends Postgres; the folder stays, for a stack to go on from. */
  stop(): Promise<void>;
}

export async function restoreState(state: RecordedState): Promise<Restored> {
  const dataDir = mkdtempSync(join(tmpdir(), 'upgrade-'));
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  await copyCluster(dataDir);
  const { spec, databaseUrl: url } = await postgresPart({
    dataDir,
    port: await freePort(),
    logDir: join(dataDir, 'logs'),
    durable: false,
  });
  await supervisor.add(spec);
  const name = new URL(url).pathname.slice(1);
  await beside(url, `DROP DATABASE ${name}`, `CREATE DATABASE ${name}`);
  await migrateAsThen(state, url, join(dataDir, 'migrations-of-then'));
  await restoreRows(state, url);
  restoreBooks(state, dataDir);
  return {
    dataDir,
    url,
    shiftMs: await moveOpenTimes(state, url),
    copy: (...names) =>
      beside(url, ...names.map((each) => `CREATE DATABASE ${each} TEMPLATE ${name}`)),
    stop: () => supervisor.stopAll(),
  };
}

/** Makes the tables of the release from its migrations, which never change. */
async function migrateAsThen(state: RecordedState, url: string, dir: string): Promise<void> {
  const { migrations } = await readBuild(MIGRATIONS_DIR);
  mkdirSync(dir);
  writeFileSync(join(dir, RELEASES_FILE), '[]');
  for (const [name, checksum] of Object.entries(state.migrations)) {
    if (!migrations.some((each) => each.name === name && each.checksum === checksum))
      throw new Error(`${name} is not what it was when ${state.version} was recorded`);
    cpSync(join(MIGRATIONS_DIR, name), join(dir, name), { recursive: true });
  }
  await applyMigrations(url, { migrationsDir: dir });
  rmSync(dir, { recursive: true });
}

/**
 * The upgrade happens a moment after the recording, however long ago that was: an approval that was
 * still open is open.
 */
async function moveOpenTimes(state: RecordedState, url: string): Promise<number> {
  const shiftMs = Date.now() - Date.parse(state.recorded_at);
  const by = `interval '${String(shiftMs)} milliseconds'`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`BEGIN;
      SET LOCAL session_replication_role = replica;
      UPDATE movements SET expires_at = expires_at + ${by} WHERE request_state = 'PENDING_APPROVAL';
      UPDATE movement_nodes SET started_at = started_at + ${by}, submitted_at = submitted_at + ${by},
        updated_at = updated_at + ${by} WHERE completed_at IS NULL;
      UPDATE capital_transfers SET pending_until = pending_until + ${by} WHERE ended_at IS NULL;
      COMMIT`);
  } finally {
    await client.end();
  }
  return shiftMs;
}

/** Statements over another database of the cluster. */
async function beside(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url.replace(/\/[^/]+$/, '/postgres') });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
