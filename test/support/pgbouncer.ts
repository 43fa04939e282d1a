/** Debian's pgbouncer before a database of a test, with a session for each transaction. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../dev/bootstrap/temporal-build.mjs';
import { freePort } from '../../dev/stack/ports.ts';
import { ManagedChild } from '../../dev/stack/supervise/child.ts';
import { giveRoleSettings, poolerPart } from '../../dev/topology/pooler.ts';

/** Whether this machine has it (`apt install pgbouncer`). */
export const HAS_PGBOUNCER = findOnPath('pgbouncer') !== null;

export interface Pooler {
  /** The database's address by way of the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts one; `ignored` are parameters of a start that it takes and drops. */
export async function startPooler(databaseUrl: string, ignored = ''): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  const [port, url] = [await freePort(), new URL(databaseUrl)];
  const options = { folder, logDir: folder, port, databaseUrl, poolSize: 3, ignored };
  const child = new ManagedChild(poolerPart(options));
  const atExit = (): void => child.killNow();
  process.once('exit', atExit);
  const close = async (): Promise<void> => {
    await child.stop();
    process.off('exit', atExit);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await child.start();
  } catch (error) {
    await close();
    throw error;
  }
  url.port = String(port);
  return { url: url.href, close };
}

/** Puts a pooler before the database of a stack's service, whose role then brings its settings. */
export async function serviceBehindPooler(
  serviceUrl: string,
  ownerUrl: string,
): Promise<{ readonly env: Record<string, string>; readonly pooler: Pooler }> {
  await giveRoleSettings(serviceUrl, ownerUrl);
  const pooler = await startPooler(serviceUrl);
  return {
    env: { SVC_DATABASE_URL: pooler.url, SVC_DATABASE_POOLER: 'transaction' },
    pooler,
  };
}
