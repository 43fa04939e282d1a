/** A database of a test file's own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../dev/stack/ports.ts';
import { postgresPart } from '../../dev/stack/postgres.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { applyMigrations } from '../../prisma/migrate.ts';
import { copyCluster } from './migrated-cluster.ts';

/** A migrated Postgres and nothing else. */
export async function startOwnDatabase(): Promise<{
  readonly url: string;
  close(): Promise<void>;
}> {
  const dataDir = mkdtempSync(join(tmpdir(), 'own-database-'));
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  const close = async (): Promise<void> => {
    await supervisor.stopAll();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await copyCluster(dataDir);
    const { spec, databaseUrl } = await postgresPart({
      dataDir,
      port: await freePort(),
      logDir: join(dataDir, 'logs'),
      durable: false,
    });
    await supervisor.add(spec);
    await applyMigrations(databaseUrl);
    return { url: databaseUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}
