/** pgbouncer in transaction mode before a database: each transaction may get another session. */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { find } from '../image/packages.ts';
import { postgresUser } from '../stack/postgres-user.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import { answers } from '../stack/temporal.ts';

export interface PoolerOptions {
  /** Folder for its settings and its list of users. */
  readonly folder: string;
  readonly logDir: string;
  readonly port: number;
  /** Where the database is, with the one user that may pass. */
  readonly databaseUrl: string;
  /** Sessions that it opens at most for each user and database; default: 20. */
  readonly poolSize?: number;
  /** Parameters of a start that it takes and drops, separated by commas; default: none. */
  readonly ignored?: string;
}

/** Returns the text of pgbouncer.ini. */
export function poolerConfig(options: Omit<PoolerOptions, 'logDir'>): string {
  const { hostname, port } = new URL(options.databaseUrl);
  return [
    '[databases]',
    `* = host=${hostname} port=${port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${String(options.port)}`,
    'unix_socket_dir =',
    'auth_type = plain',
    `auth_file = ${usersFile(options.folder)}`,
    'pool_mode = transaction',
    'max_client_conn = 400',
    `default_pool_size = ${String(options.poolSize ?? 20)}`,
    // The default leaves the database alone for 15 s after a refused connection.
    'server_login_retry = 1',
    'log_connections = 0',
    'log_disconnections = 0',
    `ignore_startup_parameters = ${options.ignored ?? ''}`,
    '',
  ].join('\n');
}

const usersFile = (folder: string): string => join(folder, 'users.txt');

/**
 * Writes the settings into `folder` and describes the process, which does not run as root and reads
 * them as the user that Postgres runs as. Throws when pgbouncer is not installed.
 */
export function poolerPart(options: PoolerOptions): ChildSpec {
  const { folder, logDir, port } = options;
  const program = find('pgbouncer');
  if (program === null) throw new Error('pgbouncer is not installed: `apt install pgbouncer`');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { username, password } = new URL(options.databaseUrl);
  const [config, users] = [join(folder, 'pgbouncer.ini'), usersFile(folder)];
  writeFileSync(config, poolerConfig(options));
  writeFileSync(users, `"${username}" "${password}"\n`, { mode: 0o600 });
  const user = postgresUser({ programs: [program], folder });
  if (user.owner !== null)
    for (const path of [folder, config, users]) chownSync(path, user.owner.uid, user.owner.gid);
  const [command = program, ...args] = [...user.prefix, program, config];
  return {
    name: 'pgbouncer',
    command,
    args,
    cwd: '/',
    ...user.spawn,
    logFile: join(logDir, 'pgbouncer.log'),
    stage: 2,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    readyTimeoutMs: 30_000,
    isReady: () => answers(`127.0.0.1:${String(port)}`),
  };
}

/** Limits of a session, as the service sets them itself where there is no pooler. */
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

/**
 * Gives the role of `serviceUrl` the settings that a session behind a pooler cannot set for itself.
 * `callbackHosts` has the form of SVC_CALLBACK_ALLOWED_HOSTS_CSV.
 */
export async function giveRoleSettings(
  serviceUrl: string,
  ownerUrl: string,
  callbackHosts = '',
): Promise<void> {
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    const role = owner.escapeIdentifier(new URL(serviceUrl).username);
    for (const limit of LIMITS) await owner.query(`ALTER ROLE ${role} SET ${limit} = '60s'`);
    const hosts = owner.escapeLiteral(callbackHosts);
    await owner.query(`ALTER ROLE ${role} SET svc.callback_allowed_hosts = ${hosts}`);
  } finally {
    await owner.end();
  }
}
