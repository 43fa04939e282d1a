/**
 * Temporal's server on Postgres as people split it: frontend, history, matching and worker, each a
 * process of its own that serves its own metrics.
 */
import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clusterPrograms, refusalOf, type ClusterPrograms } from '../deploy/temporal-cluster.ts';
import { ROOT } from '../stack/ports.ts';
import { query } from '../stack/standby.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import { findTemporalServer } from '../stack/temporal-binary.ts';
import { answers, DYNAMIC_CONFIG_FILE } from '../stack/temporal.ts';
import type { TopologyPorts } from './ports.ts';

const run = promisify(execFile);
/** Temporal's role and its databases, which deploy/compose/postgres-roles.sh creates too. */
const ROLE = 'temporal';
const PASSWORD = 'of-temporal';
const SCHEMAS = { temporal: 'temporal', temporal_visibility: 'visibility' } as const;
/** How long ended runs stay visible, as in deploy/compose/temporal-namespace.sh. */
const RETENTION = '2160h';

/** The services of the server, in the order in which they start. */
const TEMPORAL_SERVICES = ['history', 'matching', 'frontend', 'worker'] as const;
export type TemporalService = (typeof TEMPORAL_SERVICES)[number];

/** Ports of one service of the server. */
export interface ServicePorts {
  readonly grpc: number;
  readonly membership: number;
  readonly metrics: number;
}

/** Returns the ports of each service. */
export function servicePorts(
  ports: TopologyPorts,
): Readonly<Record<TemporalService, ServicePorts>> {
  return {
    frontend: {
      grpc: ports.temporalFrontend,
      membership: ports.temporalFrontendMembership,
      metrics: ports.temporalFrontendMetrics,
    },
    history: {
      grpc: ports.temporalHistory,
      membership: ports.temporalHistoryMembership,
      metrics: ports.temporalHistoryMetrics,
    },
    matching: {
      grpc: ports.temporalMatching,
      membership: ports.temporalMatchingMembership,
      metrics: ports.temporalMatchingMetrics,
    },
    worker: {
      grpc: ports.temporalWorker,
      membership: ports.temporalWorkerMembership,
      metrics: ports.temporalWorkerMetrics,
    },
  };
}

/**
 * Returns the server, its schema tool and Temporal's command line, each built once; null where Go
 * is missing. The command line is the program that the embedded stack uses.
 */
export async function temporalPrograms(): Promise<ClusterPrograms | null> {
  const programs = await clusterPrograms();
  if (programs === null) return null;
  const cli = await findTemporalServer({ ...process.env, SVC_TEMPORAL_ADDRESS: '' });
  if (cli.kind !== 'binary') throw new Error("Temporal's command line is needed as a program");
  return { ...programs, cli: cli.path };
}

/**
 * Creates Temporal's role, its two databases and their schema. `adminUrl` connects to the primary
 * as the administrator. Run it once: a second run fails.
 */
export async function prepareTemporal(sqlTool: string, adminUrl: string): Promise<void> {
  await query(adminUrl, `CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
  for (const name of Object.keys(SCHEMAS))
    await query(adminUrl, `CREATE DATABASE ${name} OWNER ${ROLE}`);
  const { hostname, port } = new URL(adminUrl);
  for (const [database, schema] of Object.entries(SCHEMAS)) {
    const where = ['--plugin', 'postgres12', '--ep', hostname, '-p', port];
    const tool = (...args: readonly string[]) =>
      run(sqlTool, [...where, '-u', ROLE, '--db', database, ...args], {
        cwd: ROOT,
        env: { HOME: '/', SQL_PASSWORD: PASSWORD },
      });
    await tool('setup-schema', '-v', '0.0');
    await tool('update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
}

/** Creates the namespace of the runs. Workers register the search attributes themselves. */
export async function createNamespace(cli: string, address: string): Promise<void> {
  const args = ['operator', 'namespace', 'create', '--namespace', 'default'];
  await run(cli, [...args, '--retention', RETENTION, '--address', address], {
    env: { HOME: '/' }, // a folder without settings of Temporal's command line
    timeout: 120_000,
  });
}

/** Returns the path of the server's dynamic configuration, a copy of the shipped one. */
export function dynamicConfigFile(folder: string): string {
  return join(folder, 'dynamicconfig.yaml');
}

/**
 * Describes the four processes, in the order of their start. They reach their databases by way of
 * the network that can be disturbed, at the address that follows the primary.
 */
export function temporalParts(options: {
  readonly programs: ClusterPrograms;
  readonly ports: TopologyPorts;
  readonly folder: string;
  readonly logDir: string;
}): readonly ChildSpec[] {
  const { programs, folder, logDir } = options;
  copyFileSync(join(ROOT, DYNAMIC_CONFIG_FILE), dynamicConfigFile(folder));
  const env = serverEnvironment(options.ports, folder);
  const ports = servicePorts(options.ports);
  return TEMPORAL_SERVICES.map((service): ChildSpec => {
    const { grpc, metrics } = ports[service];
    const address = `127.0.0.1:${String(grpc)}`;
    const name = `temporal-${service}`;
    return {
      name,
      command: programs.server,
      args: ['start', '--service', service],
      cwd: folder,
      env: { ...env, PROMETHEUS_ENDPOINT: `127.0.0.1:${String(metrics)}` },
      logFile: join(logDir, `${name}.log`),
      stage: 2,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 5_000,
      readyTimeoutMs: 300_000,
      // A frontend may listen before it serves.
      isReady: async () =>
        service === 'frontend'
          ? ((await refusalOf(programs.cli, { TEMPORAL_ADDRESS: address })) ?? true)
          : answers(address),
    };
  });
}

/**
 * What the server's embedded configuration reads. All services have all ports, since the frontend's
 * is also how the others find it.
 */
function serverEnvironment(ports: TopologyPorts, folder: string): Record<string, string> {
  const own = Object.entries(servicePorts(ports)).flatMap(([service, { grpc, membership }]) => [
    [`${service.toUpperCase()}_GRPC_PORT`, String(grpc)] as const,
    [`${service.toUpperCase()}_MEMBERSHIP_PORT`, String(membership)] as const,
  ]);
  return {
    DB: 'postgres12',
    DB_PORT: String(ports.temporalVip),
    POSTGRES_SEEDS: '127.0.0.1',
    POSTGRES_USER: ROLE,
    POSTGRES_PWD: PASSWORD,
    BIND_ON_IP: '127.0.0.1',
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    DYNAMIC_CONFIG_FILE_PATH: dynamicConfigFile(folder),
    LOG_LEVEL: 'warn',
    FRONTEND_HTTP_PORT: String(ports.temporalFrontendHttp),
    ...Object.fromEntries(own),
  };
}
