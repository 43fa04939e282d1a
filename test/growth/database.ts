/** A scratch Postgres that is quick to fill: nothing in it outlives the process that made it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../dev/stack/ports.ts';
import { postgresPart } from '../../dev/stack/postgres.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { applyMigrations } from '../../prisma/migrate.ts';

export interface ScratchDatabase {
  readonly url: string;
  /** Another migrated database of the same server. */
  another(name: string): Promise<string>;
  close(): Promise<void>;
}

/** Room for the indexes of a million movements, and a log that is never replayed. */
const SETTINGS = [
  'shared_buffers=1GB',
  'maintenance_work_mem=512MB',
  'max_wal_size=16GB',
  'wal_level=minimal',
  'max_wal_senders=0',
  'full_page_writes=off',
  'synchronous_commit=off',
  'autovacuum=off',
];

/** A migrated database on a free port. */
export async function startScratchDatabase(): Promise<ScratchDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), 'growth-'));
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  const close = async (): Promise<void> => {
    await supervisor.stopAll();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const { spec, databaseUrl } = await postgresPart({
      dataDir,
      port: await freePort(),
      logDir: join(dataDir, 'logs'),
      durable: false,
    });
    const args = [...(spec.args ?? []), ...SETTINGS.flatMap((setting) => ['-c', setting])];
    await supervisor.add({ ...spec, args });
    await applyMigrations(databaseUrl);
    const another = async (name: string): Promise<string> => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`).finally(() => client.end());
      const url = new URL(databaseUrl);
      url.pathname = `/${name}`;
      await applyMigrations(url.href);
      return url.href;
    };
    return { url: databaseUrl, another, close };
  } catch (error) {
    await close();
    throw error;
  }
}
