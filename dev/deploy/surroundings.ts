/**
 * The surroundings of an installation: Postgres and Temporal, both behind TLS of their own
 * authority, and the paper venue, in separate namespaces. When the namespaces end, all processes
 * end.
 */
import { execFile } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { createAuthority, type Pair } from '../../test/support/tls-proxy.ts';
import { writeChainInfo, chainFile } from '../stack/chain.ts';
import { postgresPart, SERVICE_ROLE } from '../stack/postgres.ts';
import { paperVenuePart } from '../stack/service.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import type { Supervisor } from '../stack/supervise/supervisor.ts';
import {
  clientEnvironment,
  clusterPart,
  composeJob,
  refusalOf,
  type Certificate,
  type ClusterPrograms,
} from './temporal-cluster.ts';
import type { Timed } from './timed.ts';

const run = promisify(execFile);

/** Options of `unshare` for network, mount and process namespaces. */
export const NAMESPACES = [
  ...['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
];
/** IP addresses of two simulated machines; a loopback address would need no TLS. */
const ADDRESSES = { postgres: '10.20.0.2', temporal: '10.20.0.3' };
const PAPER_PORT = 9400;

/** Input of the program that runs in the namespaces. */
export interface Handover {
  /** Work folder; removed at the end. */
  readonly work: string;
  /** The empty root file system, and the program's folder in it. */
  readonly root: string;
  readonly app: string;
  readonly programs: ClusterPrograms;
}

export interface Surroundings {
  /** Connects as Postgres' administrator, without TLS, from the server's own machine. */
  readonly adminUrl: string;
  readonly password: string;
  /**
   * TLS files for a client of both servers: the authority's certificate, and a client certificate
   * for Temporal.
   */
  readonly client: Certificate;
  readonly paperUrl: string;
}

/**
 * Sets up the network of the page's machine, host names for its neighbours, and the mounts of its
 * root file system.
 */
export async function openNetwork({ work, root }: Handover): Promise<void> {
  const hosts = Object.entries({ localhost: '127.0.0.1', ...ADDRESSES })
    .map(([name, address]) => `${address} ${name}\n`)
    .join('');
  writeFileSync(join(work, 'hosts'), hosts);
  const addresses = Object.values(ADDRESSES).map((ip) => `ip address add ${ip}/32 dev lo`);
  const script = `
    ip link set lo up
    ${addresses.join('\n')}
    mount --bind '${work}/hosts' /etc/hosts
    mount -t tmpfs tmpfs /run
    touch '${root}/etc/hosts'
    mount --bind '${work}/hosts' '${root}/etc/hosts'
    mount -t proc proc '${root}/proc'
    mount --rbind /dev '${root}/dev'`;
  await run('bash', ['-e', '-c', script], {
    env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  });
}

/** Starts all surroundings and returns how to reach them; `timed` records how long each took. */
export async function surround(
  { work, programs }: Handover,
  supervisor: Supervisor,
  timed: Timed,
): Promise<Surroundings> {
  const tls = join(work, 'tls');
  mkdirSync(tls);
  const authority = createAuthority(tls, 'ca');
  const issue = (dns: string): Certificate => ({
    ca: authority.cert,
    ...authority.issue(dns, { dns }),
  });
  const postgres = await postgresPart({ dataDir: work, port: 5432, logDir: work, durable: false });
  const password = new URL(postgres.databaseUrl).password;
  const adminUrl = postgres.databaseUrl.replace(/[^/]*$/, 'postgres');
  const spec = onlyEncrypted(postgres.spec, join(work, 'postgres'), issue('postgres'));
  await timed('Postgres 18, TLS required', async () => {
    await supervisor.add(spec);
    // The page itself creates its database.
    await ask(adminUrl, `DROP DATABASE fund_movements`);
    await ask(adminUrl, `DROP ROLE ${SERVICE_ROLE}`);
  });
  const cluster = { programs, folder: work, password: 'of-temporal', tls: issue('temporal') };
  await timed('Temporal: schema (the job of docker-compose.yml)', async () => {
    await ask(adminUrl, `CREATE ROLE temporal LOGIN PASSWORD '${cluster.password}'`);
    for (const name of ['temporal', 'temporal_visibility'])
      await ask(adminUrl, `CREATE DATABASE ${name} OWNER temporal`);
    await composeJob('temporal-schema.sh', cluster);
    // docker compose also runs this job at each start.
    await composeJob('temporal-schema.sh', cluster);
  });
  await timed('Temporal: server, TLS and client certificates required', async () => {
    await run(programs.server, ['validate-dynamic-config', 'deploy/temporal/dynamicconfig.yaml']);
    await supervisor.add(clusterPart(cluster, ADDRESSES.temporal));
    await composeJob('temporal-namespace.sh', cluster);
  });
  const client = { ca: authority.cert, ...authority.issue('fund') };
  await mustRefuse(programs.cli, client);
  writeChainInfo(work, 9401); // no process listens on this port, and none calls it
  await supervisor.add(
    paperVenuePart({
      dataDir: work,
      logDir: work,
      chainFile: chainFile(work),
      port: PAPER_PORT,
    }),
  );
  return { adminUrl, password, client, paperUrl: `http://127.0.0.1:${String(PAPER_PORT)}` };
}

/** Makes Postgres accept only encrypted connections from other machines. */
function onlyEncrypted(spec: ChildSpec, cluster: string, { cert, key }: Pair): ChildSpec {
  const { uid, gid } = statSync(cluster);
  const put = (name: string, from: string): void => {
    copyFileSync(from, join(cluster, name));
    chmodSync(join(cluster, name), 0o600);
    chownSync(join(cluster, name), uid, gid);
  };
  put('server.crt', cert);
  put('server.key', key);
  writeFileSync(
    join(cluster, 'pg_hba.conf'),
    [
      'host all all 127.0.0.1/32 scram-sha-256',
      'hostssl all all 10.20.0.0/24 scram-sha-256',
      '',
    ].join('\n'),
  );
  const settings = ['ssl=on', `listen_addresses=127.0.0.1,${ADDRESSES.postgres}`];
  return { ...spec, args: [...spec.args, ...settings.flatMap((each) => ['-c', each])] };
}

/**
 * Checks that Temporal refuses a client without a certificate; otherwise the run would prove
 * nothing.
 */
async function mustRefuse(cli: string, client: Certificate): Promise<void> {
  const { TEMPORAL_ADDRESS = '', TEMPORAL_TLS_SERVER_CA_CERT_PATH = '' } =
    clientEnvironment(client);
  const without = {
    'without TLS': { TEMPORAL_ADDRESS },
    'without a certificate': { TEMPORAL_ADDRESS, TEMPORAL_TLS_SERVER_CA_CERT_PATH },
  };
  for (const [how, env] of Object.entries(without))
    if ((await refusalOf(cli, env)) === null) throw new Error(`Temporal answered ${how}`);
  const refusal = await refusalOf(cli, clientEnvironment(client));
  if (refusal !== null) throw new Error(`Temporal refused the client: ${refusal}`);
}

/** Runs one statement; returns its rows. */
export async function ask(url: string, statement: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, string>>(statement)).rows;
  } finally {
    await client.end();
  }
}
