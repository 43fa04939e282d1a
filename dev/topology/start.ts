/** Starts the parts of the topology in the order in which they need each other. */
import { join } from 'node:path';
import { grantService } from '../../prisma/grant.ts';
import { applyMigrations } from '../../prisma/migrate.ts';
import { loadStarterTemplates } from '../demo-api.ts';
import type { ClusterPrograms } from '../deploy/temporal-cluster.ts';
import type { ChainInfo } from '../stack/chain.ts';
import type { MoreEntries } from '../stack/config.ts';
import type { DevKeys } from '../stack/keys.ts';
import { SERVICE_ROLE } from '../stack/postgres.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import { query } from '../stack/standby.ts';
import { step } from '../stack/step.ts';
import type { Supervisor } from '../stack/supervise/supervisor.ts';
import { DatabasePair } from './databases.ts';
import { Network } from './network.ts';
import { giveRoleSettings, poolerPart } from './pooler.ts';
import type { TopologyPorts } from './ports.ts';
import { prometheusPart, shippedRules, type ScrapeTarget } from './prometheus.ts';
import { proxyPart } from './proxy.ts';
import {
  configureService,
  outsideParts,
  serviceParts,
  type ConfiguredService,
  type ServiceWays,
} from './service.ts';
import { createNamespace, prepareTemporal, servicePorts, temporalParts } from './temporal.ts';

export const FUND_DATABASE = 'fund_movements';

/** The databases that fail over. */
export type DatabaseName = 'fund' | 'temporal';

/** Programs that are built or installed before a topology starts. */
export interface TopologyPrograms {
  readonly temporal: ClusterPrograms;
  readonly toxiproxy: string;
  /** Null where this machine has none: the topology then has no Prometheus. */
  readonly prometheus: string | null;
}

export interface TopologyStart {
  /** An empty folder for data, logs and settings. */
  readonly dataDir: string;
  readonly basePort: number;
  readonly programs: TopologyPrograms;
  /** Rules of alerts by file name; default: the shipped ones. */
  readonly rules?: ReadonlyMap<string, string>;
  /** Additional environment of the service. */
  readonly env?: Readonly<Record<string, string>>;
  /** Additional entries of the registry and venues files. */
  readonly more?: MoreEntries;
  readonly log: (line: string) => void;
  /** Aborts a start in progress. */
  readonly signal: AbortSignal;
}

/** What a start has made. */
export interface Made {
  readonly ports: TopologyPorts;
  readonly supervisor: Supervisor;
  readonly network: Network;
  readonly databases: Readonly<Record<DatabaseName, DatabasePair>>;
  readonly chain: ChainInfo;
  readonly keys: DevKeys;
  /** The service's environment, with the address that names both servers of its database. */
  readonly env: Readonly<Record<string, string>>;
}

/** What all steps of a start use. */
interface Context extends Omit<Made, 'databases' | 'chain' | 'keys' | 'env'> {
  readonly start: TopologyStart;
  readonly log: TopologyStart['log'];
  readonly logDir: string;
}

/** Returns the URL of a port of the loopback address. */
export function loopback(port: number): string {
  return `http://127.0.0.1:${String(port)}`;
}

/** Starts all parts; rejects when one does not start. The caller then stops the others. */
export async function startAll(
  start: TopologyStart,
  ports: TopologyPorts,
  supervisor: Supervisor,
): Promise<Made> {
  const { dataDir, programs } = start;
  const logDir = join(dataDir, 'logs');
  const folder = join(dataDir, 'toxiproxy');
  const network = new Network({ program: programs.toxiproxy, folder, logDir, ports });
  const context: Context = { start, log: start.log, logDir, ports, supervisor, network };
  await add(context, 'Network (toxiproxy)', [network.part()]);
  const { chain, parts } = outsideParts({ dataDir, logDir, ports });
  const [fund, temporal] = await Promise.all([
    startFund(context),
    startTemporal(context),
    add(context, 'Local chain and paper venue', parts),
  ]);
  const { keys, env } = await startService(context, fund, chain);
  await startPrometheus(context);
  return { ports, supervisor, network, databases: { fund, temporal }, chain, keys, env };
}

async function startPair(context: Context, name: DatabaseName): Promise<DatabasePair> {
  const { start, logDir, ports, supervisor, network } = context;
  const servers = {
    // Temporal takes a single address, so only the service's two servers have ways of their own.
    fund: {
      portA: ports.fundA,
      portB: ports.fundB,
      viaA: ports.fundAFront,
      viaB: ports.fundBFront,
    },
    temporal: { portA: ports.temporalA, portB: ports.temporalB },
  };
  const pair = await DatabasePair.create({
    name,
    folder: join(start.dataDir, name),
    logDir,
    supervisor,
    ...servers[name],
    onPrimary: (port) => network.pointTo(`${name}-vip`, port),
  });
  for (const part of pair.parts()) await supervisor.add(part);
  await pair.prepare();
  return pair;
}

/** The service's database with its tables, and the pooler before it. */
async function startFund(context: Context): Promise<DatabasePair> {
  const { start, logDir, ports } = context;
  const pair = await step(context, 'Postgres of the service, with its standby', () =>
    startPair(context, 'fund'),
  );
  const ownerUrl = pair.urlOf('owner', FUND_DATABASE, 'primary');
  const serviceUrl = pair.urlOf('service', FUND_DATABASE, ports.fundVip);
  await step(context, 'Database migrations', async () => {
    await applyMigrations(ownerUrl);
    await grantService(ownerUrl, SERVICE_ROLE);
    // For the figure of standbys (docs/operations.md).
    await query(ownerUrl, `GRANT pg_monitor TO ${SERVICE_ROLE}`);
    await giveRoleSettings(serviceUrl, ownerUrl, start.env?.['SVC_CALLBACK_ALLOWED_HOSTS_CSV']);
  });
  const folder = join(start.dataDir, 'pgbouncer');
  const pooler = poolerPart({ folder, logDir, port: ports.pooler, databaseUrl: serviceUrl });
  await add(context, 'Pooler (pgbouncer)', [pooler]);
  return pair;
}

async function startTemporal(context: Context): Promise<DatabasePair> {
  const { start, logDir, ports, supervisor } = context;
  const programs = start.programs.temporal;
  const pair = await step(context, 'Postgres of Temporal, with its standby', () =>
    startPair(context, 'temporal'),
  );
  await step(context, 'Temporal: its schema', () =>
    prepareTemporal(programs.sqlTool, pair.urlOf('owner', 'postgres', 'primary')),
  );
  await step(context, 'Temporal: history, matching, frontend, worker', async () => {
    // One after the other: each writes down what the next one reads at its start.
    for (const part of temporalParts({ programs, ports, folder: start.dataDir, logDir }))
      await supervisor.add(part);
    await createNamespace(programs.cli, `127.0.0.1:${String(ports.temporalFrontend)}`);
  });
  return pair;
}

async function startService(
  context: Context,
  fund: DatabasePair,
  chain: ChainInfo,
): Promise<ConfiguredService> {
  const { start, logDir, ports } = context;
  const apiUrl = loopback(ports.haproxy);
  const place = { dataDir: start.dataDir, logDir, ports, apiUrl };
  const ways: ServiceWays = {
    pooledUrl: fund.urlOf('service', FUND_DATABASE, ports.pooler),
    multiUrl: fund.urlOf('service', FUND_DATABASE, 'multi'),
    ownerUrl: fund.urlOf('owner', FUND_DATABASE, 'primary'),
    temporalAddress: `127.0.0.1:${String(ports.temporalFrontendFront)}`,
  };
  const { more = {}, env = {} } = start;
  const configured = await configureService(place, ways, chain, { more, env });
  await add(context, 'Two APIs and two workers', serviceParts(place, ways, configured));
  const behind = [
    { apiPort: ports.api1, opsPort: ports.api1Ops },
    { apiPort: ports.api2, opsPort: ports.api2Ops },
  ];
  const folder = join(start.dataDir, 'haproxy');
  const proxy = proxyPart({ folder, logDir, port: ports.haproxy, behind });
  await add(context, 'Balancer (haproxy)', [proxy]);
  await loadStarterTemplates({ apiUrl, chain, keys: configured.keys });
  return configured;
}

async function startPrometheus(context: Context): Promise<void> {
  const { start, logDir, ports } = context;
  const program = start.programs.prometheus;
  if (program === null) return;
  const folder = join(start.dataDir, 'prometheus');
  const rules = start.rules ?? shippedRules();
  const targets = scrapeTargets(ports);
  const port = ports.prometheus;
  const part = prometheusPart({ program, folder, logDir, port, targets, rules });
  await add(context, 'Prometheus', [part]);
}

/**
 * Returns every process that serves metrics. The names of the jobs begin as the shipped alert rules
 * expect it: `fund` and `temporal`.
 */
export function scrapeTargets(ports: TopologyPorts): readonly ScrapeTarget[] {
  return [
    { job: 'fund-api', process: 'api-1', port: ports.api1Ops },
    { job: 'fund-api', process: 'api-2', port: ports.api2Ops },
    { job: 'fund-worker', process: 'worker-1', port: ports.worker1Ops },
    { job: 'fund-worker', process: 'worker-2', port: ports.worker2Ops },
    { job: 'fund-sdk', process: 'worker-1', port: ports.worker1Sdk },
    { job: 'fund-sdk', process: 'worker-2', port: ports.worker2Sdk },
    ...Object.entries(servicePorts(ports)).map(([service, { metrics }]) => ({
      job: 'temporal',
      process: `temporal-${service}`,
      port: metrics,
    })),
  ];
}

/** Starts processes together, as one step. */
async function add(context: Context, label: string, parts: readonly ChildSpec[]): Promise<void> {
  await step(context, label, () =>
    Promise.all(parts.map((part) => context.supervisor.add(part))).then(() => undefined),
  );
}
