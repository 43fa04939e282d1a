/** Debian's pgbouncer before a database of a test, with a session for each transaction. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { find } from '../../dev/image/packages.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { giveRoleSettings, poolerPart } from '../../dev/topology/pooler.ts';
import { startPart } from './part.ts';

/** Whether this machine has it (`apt install pgbouncer`). */
export const HAS_PGBOUNCER = find('pgbouncer') !== null;

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
  const close = await startPart(poolerPart(options), folder);
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
