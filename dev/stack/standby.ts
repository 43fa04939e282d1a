/** A synchronous standby of an embedded Postgres, and the fail-over script that operators have. */
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { ROOT } from './ports.ts';
import type { ChildSpec } from './supervise/child.ts';

const run = promisify(execFile);
const SCRIPT = join(ROOT, 'deploy', 'postgres', 'failover.sh');
/** Name under which a standby connects to its primary. */
const STANDBY = 'standby';
/** Longest until a standby has what its primary wrote meanwhile. */
const CATCH_UP_MS = 180_000;
const PASSWORDS = ['postgres.password', 'postgres-service.password'];

/** What becomes a standby of what. */
export interface StandbyCopy {
  /** Data folders of the two stacks, each with its cluster in `postgres`. */
  readonly from: string;
  readonly to: string;
  /** The primary as its owner. */
  readonly primaryUrl: string;
}

/**
 * Makes `to` a standby of the running primary `from`: pg_basebackup by hand, which the embedded
 * Postgres does not have. Replaces a cluster that is there; its server must not run.
 */
export async function copyRunning(copy: StandbyCopy): Promise<void> {
  const client = new pg.Client({ connectionString: copy.primaryUrl });
  await client.connect();
  try {
    await client.query('SELECT pg_backup_start($1, fast => true)', [STANDBY]);
    const draft = await copyFiles(copy);
    const { rows } = await client.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)',
    );
    const [backup] = rows;
    if (backup === undefined) throw new Error('Postgres returned no backup label');
    writeFileSync(join(draft, 'backup_label'), backup.labelfile);
    finish(copy, draft);
  } finally {
    await client.end();
  }
}

/** Makes `to` a standby of `from`. Neither server may run. */
export async function copyStopped(copy: StandbyCopy): Promise<void> {
  finish(copy, await copyFiles(copy));
}

/** Copies into a draft, so that a kill in the middle leaves no cluster that starts. */
async function copyFiles({ from, to }: StandbyCopy): Promise<string> {
  mkdirSync(to, { recursive: true });
  const draft = join(to, 'postgres.draft-standby');
  rmSync(draft, { recursive: true, force: true });
  try {
    const env = { ...process.env, LC_ALL: 'C' };
    await run('cp', ['-a', join(from, 'postgres'), draft], { env });
  } catch (error) {
    // A server that runs removes files meanwhile, and a backup may lack those.
    const lines = String((error as { stderr?: unknown }).stderr ?? '')
      .trim()
      .split('\n');
    if (!lines.every((line) => line.endsWith('No such file or directory'))) throw error;
  }
  return draft;
}

function finish({ from, to, primaryUrl }: StandbyCopy, draft: string): void {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const primary = `host=${hostname} port=${port} user=${username} password=${password} application_name=${STANDBY}`;
  rmSync(join(draft, 'postmaster.pid'), { force: true });
  writeFileSync(join(draft, 'standby.signal'), '');
  // The last line of a setting counts. A promoted standby has no standby to wait for.
  const settings = [
    `primary_conninfo = '${primary}'`,
    "synchronous_standby_names = ''",
    "wal_retrieve_retry_interval = '500ms'",
  ];
  appendFileSync(join(draft, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  for (const name of PASSWORDS) copyFileSync(join(from, name), join(to, name));
  rmSync(join(to, 'postgres'), { recursive: true, force: true });
  renameSync(draft, join(to, 'postgres'));
}

/**
 * Makes commits of this primary wait for its standby. Rejects when the standby is not synchronous
 * after three minutes.
 */
export async function makeSynchronous(primaryUrl: string): Promise<void> {
  await query(primaryUrl, `ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`);
  await query(primaryUrl, 'SELECT pg_reload_conf()');
  await untilSynchronous(primaryUrl);
}

/** Resolves when this primary has a synchronous standby; rejects after three minutes. */
export async function untilSynchronous(primaryUrl: string): Promise<void> {
  const deadline = Date.now() + CATCH_UP_MS;
  while (!(await isSynchronous(primaryUrl))) {
    if (Date.now() > deadline) {
      throw new Error(`The standby is not synchronous after ${String(CATCH_UP_MS / 1_000)} s`);
    }
    await sleep(50);
  }
}

async function isSynchronous(primaryUrl: string): Promise<boolean> {
  const text = `SELECT 1 FROM pg_stat_replication
    WHERE application_name = '${STANDBY}' AND sync_state = 'sync'`;
  return (await query(primaryUrl, text).catch(() => [])).length > 0;
}

/** Returns whether the server is a standby; null when it does not answer. */
export async function isStandby(url: string): Promise<boolean | null> {
  try {
    const text = 'SELECT pg_is_in_recovery() AS standby';
    const [row] = await query<{ standby: boolean }>(url, text);
    return row?.standby ?? null;
  } catch {
    return null;
  }
}

/**
 * Runs deploy/postgres/failover.sh as the user of this Postgres and with its own programs; returns
 * what it printed. Rejects when the script refuses.
 */
export async function runFailover(
  spec: ChildSpec,
  command: 'fence' | 'promote',
  cluster: string,
): Promise<string> {
  const words = [spec.command, ...spec.args];
  const at = words.indexOf('-D') - 1;
  const [program = 'bash', ...args] = [...words.slice(0, at), 'bash', SCRIPT, command, cluster];
  const { stdout } = await run(program, args, {
    cwd: '/',
    env: { ...process.env, PATH: `${dirname(words[at] ?? '')}:${process.env['PATH'] ?? ''}` },
    ...(spec.uid === undefined ? {} : { uid: spec.uid }),
    ...(spec.gid === undefined ? {} : { gid: spec.gid }),
  });
  return stdout;
}

/** Runs one statement on one server, on a connection of its own. */
export async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row & pg.QueryResultRow>(text)).rows;
  } finally {
    await client.end();
  }
}
