/**
 * A synchronous standby beside the Postgres of a stack, as plain processes, and the fail-over to it
 * by the script that operators have.
 */
import { execFile } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort, ROOT } from '../../dev/stack/ports.ts';
import { postgresPart } from '../../dev/stack/postgres.ts';
import type { Stack } from '../../dev/stack/stack.ts';
import type { ChildSpec } from '../../dev/stack/supervise/child.ts';
import { Supervisor } from '../../dev/stack/supervise/supervisor.ts';
import { eventually } from './eventually.ts';

const run = promisify(execFile);
const SCRIPT = join(ROOT, 'deploy', 'postgres', 'failover.sh');

export interface Standby {
  /** The service's address, which names both servers, the first primary first. */
  readonly serviceUrl: string;
  /** The owner's addresses of each alone. */
  readonly first: string;
  readonly second: string;
  /** Fences the first, which is down, and promotes the second; what the script said. */
  failOver(): Promise<string>;
  /** Starts the first again, as it is after its fence. */
  startFirst(): Promise<void>;
  close(): Promise<void>;
}

/** Copies the running Postgres of the stack; its commits wait for the copy from then on. */
export async function addStandby(stack: Stack): Promise<Standby> {
  const { dataDir, databaseUrl: first, ports } = stack;
  const home = join(dataDir, 'standby');
  mkdirSync(home);
  const port = await freePort(Object.values(ports));
  const parts = { logDir: join(dataDir, 'logs') };
  await copyCluster(dataDir, home, first);
  const made = await postgresPart({ ...parts, dataDir: home, port });
  const old = await postgresPart({ ...parts, dataDir, port: ports.postgres });
  const supervisor = new Supervisor({ dataDir: home, restart: false, log: () => undefined });
  const start = ({ spec, databaseUrl }: typeof made, name: string): Promise<void> =>
    supervisor.add({
      ...spec,
      name,
      logFile: join(parts.logDir, `${name}.log`),
      isReady: () => isStandby(databaseUrl),
    });
  await start(made, 'postgres-second');
  await query(first, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  await query(first, 'SELECT pg_reload_conf()');
  await eventually(
    async () => {
      const [row] = await query<{ sync_state: string }>(
        first,
        "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby'",
      );
      return row?.sync_state === 'sync' ? true : null;
    },
    { what: () => 'the standby to be synchronous' },
  );
  const service = new URL(stack.env['SVC_DATABASE_URL'] ?? '');
  return {
    serviceUrl: service.href.replace(service.host, `${service.host},127.0.0.1:${String(port)}`),
    first,
    second: made.databaseUrl,
    failOver: async () =>
      (await scripted(old.spec, 'fence', join(dataDir, 'postgres'))) +
      (await scripted(made.spec, 'promote', join(home, 'postgres'))),
    startFirst: () => start(old, 'postgres-first'),
    close: () => supervisor.stopAll(),
  };
}

/** A base backup by hand: the embedded Postgres has no pg_basebackup. */
async function copyCluster(from: string, to: string, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', fast => true)");
    await run('cp', ['-a', join(from, 'postgres'), to]);
    const { rows } = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)',
    );
    const cluster = join(to, 'postgres');
    rmSync(join(cluster, 'postmaster.pid'));
    writeFileSync(join(cluster, 'backup_label'), rows[0]?.labelfile ?? '');
    writeFileSync(join(cluster, 'standby.signal'), '');
    const { hostname, port, username, password } = new URL(url);
    const primary = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
    appendFileSync(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
  } finally {
    await client.end();
  }
  for (const name of ['postgres.password', 'postgres-service.password'])
    copyFileSync(join(from, name), join(to, name));
}

/** Runs the script as the user that this Postgres runs as, with its own programs. */
async function scripted(spec: ChildSpec, command: string, folder: string): Promise<string> {
  const words = [spec.command, ...spec.args];
  const at = words.indexOf('-D') - 1;
  const [program = 'bash', ...args] = [...words.slice(0, at), 'bash', SCRIPT, command, folder];
  const { stdout } = await run(program, args, {
    cwd: '/',
    env: { ...process.env, PATH: `${dirname(words[at] ?? '')}:${process.env['PATH'] ?? ''}` },
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    ...(spec.gid === undefined ? {} : { gid: spec.gid }),
  });
  return stdout;
}

async function isStandby(url: string): Promise<boolean> {
  try {
    const [row] = await query<{ standby: boolean }>(url, 'SELECT pg_is_in_recovery() AS standby');
    return row?.standby === true;
  } catch {
    return false;
  }
}

/** One statement to one server. */
export async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row & pg.QueryResultRow>(text)).rows;
  } finally {
    await client.end();
  }
}
