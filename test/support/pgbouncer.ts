/** Debian's pgbouncer before a database, with a session for each transaction. */
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../dev/stack/ports.ts';

/** Whether this machine has it (`apt install pgbouncer`). */
export const HAS_PGBOUNCER = spawnSync('pgbouncer', ['--version']).status === 0;

/** It refuses to run as root. */
const NO_ROOT = 65_534;

export interface Pooler {
  /** The database's address by way of the pooler. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts one; `ignored` are parameters of a start that it takes and drops. */
export async function startPooler(databaseUrl: string, ignored = ''): Promise<Pooler> {
  const isRoot = process.getuid?.() === 0;
  // Whom it runs as then may not look into the folder of the tests.
  const folder = mkdtempSync(join(isRoot ? '/tmp' : tmpdir(), 'pgbouncer-'));
  const [port, to] = [await freePort(), new URL(databaseUrl)];
  const [users, config] = [join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')];
  writeFileSync(users, `"${to.username}" "${to.password}"\n`);
  writeFileSync(
    config,
    [
      '[databases]',
      `* = host=${to.hostname} port=${to.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${String(port)}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${users}`,
      'pool_mode = transaction',
      'default_pool_size = 3',
      `ignore_startup_parameters = ${ignored}`,
      '',
    ].join('\n'),
  );
  if (isRoot) for (const file of [folder, users, config]) chownSync(file, NO_ROOT, NO_ROOT);
  const child = spawn('pgbouncer', ['-q', config], {
    stdio: 'ignore',
    ...(isRoot ? { uid: NO_ROOT, gid: NO_ROOT } : {}),
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (tries === 200) {
      await close();
      throw new Error('pgbouncer does not answer');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  to.port = String(port);
  return { url: to.href, close };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Puts a pooler before the database of a stack's service, whose role then brings its settings. */
export async function serviceBehindPooler(
  serviceUrl: string,
  ownerUrl: string,
): Promise<{ readonly env: Record<string, string>; readonly pooler: Pooler }> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  const role = owner.escapeIdentifier(new URL(serviceUrl).username);
  for (const setting of ['statement_timeout', 'idle_in_transaction_session_timeout'])
    await owner.query(`ALTER ROLE ${role} SET ${setting} = '60s'`);
  await owner.query(`ALTER ROLE ${role} SET svc.callback_allowed_hosts = ''`);
  await owner.end();
  const pooler = await startPooler(serviceUrl);
  return {
    env: { SVC_DATABASE_URL: pooler.url, SVC_DATABASE_POOLER: 'transaction' },
    pooler,
  };
}
