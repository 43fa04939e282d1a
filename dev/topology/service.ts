/**
 * The processes of the service in the topology, and the outside world that they move funds in: a
 * local chain and the paper venue.
 */
import { join } from 'node:path';
import { ensureDevAllowlist } from '../stack/allowlist.ts';
import { chainFile, chainPart, writeChainInfo, type ChainInfo } from '../stack/chain.ts';
import { writeClientEnvironments } from '../stack/client-env.ts';
import { writeStackConfig, type MoreEntries } from '../stack/config.ts';
import { ensureDevKeys, type DevKeys } from '../stack/keys.ts';
import { paperVenuePart, servicePart } from '../stack/service.ts';
import { serviceEnvironment } from '../stack/stack.ts';
import type { ChildSpec } from '../stack/supervise/child.ts';
import type { TopologyPorts } from './ports.ts';

/** The processes of the service. */
export const SERVICE_PROCESSES = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
type ServiceProcessName = (typeof SERVICE_PROCESSES)[number];

/** Longer than haproxy takes to see that a process drains. */
const DRAIN_SECONDS = '3';

/** All parts start at once, and on a busy machine each then takes minutes. */
const START_MS = 300_000;

interface Place {
  readonly dataDir: string;
  readonly logDir: string;
  readonly ports: TopologyPorts;
}

/** Writes the chain's addresses; describes the processes of the chain and the paper venue. */
export function outsideParts({ dataDir, logDir, ports }: Place): {
  readonly chain: ChainInfo;
  readonly parts: readonly ChildSpec[];
} {
  const chain = writeChainInfo(dataDir, ports.chain);
  return {
    chain,
    parts: [
      chainPart({ dataDir, port: ports.chain, nodePort: ports.chainNode, logDir }),
      paperVenuePart({ dataDir, chainFile: chainFile(dataDir), port: ports.venue, logDir }),
    ].map((part) => ({ ...part, readyTimeoutMs: START_MS })),
  };
}

/** How processes of the service reach what they need. */
export interface ServiceWays {
  /** The database through the pooler. */
  readonly pooledUrl: string;
  /** The database with both servers in one URL. */
  readonly multiUrl: string;
  /** The tables' owner, past the pooler. */
  readonly ownerUrl: string;
  readonly temporalAddress: string;
}

/** The configured service: callers' keys, and the environment that all its processes share. */
export interface ConfiguredService {
  readonly keys: DevKeys;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Issues the callers' keys, fills the allowlist and writes the service's files; the database must
 * have its tables. The service calls chain and venue through the network that can be disturbed.
 */
export async function configureService(
  place: Place & { readonly apiUrl: string },
  ways: ServiceWays,
  chain: ChainInfo,
  options: { readonly more: MoreEntries; readonly env: Readonly<Record<string, string>> },
): Promise<ConfiguredService> {
  const { dataDir, ports, apiUrl } = place;
  const files = await writeStackConfig({
    dataDir,
    chain: { ...chain, rpcUrl: `http://127.0.0.1:${String(ports.chainFront)}` },
    paperVenueUrl: `http://127.0.0.1:${String(ports.venueFront)}`,
    more: options.more,
    env: {},
    log: () => undefined,
  });
  const urls = { temporalAddress: ways.temporalAddress, uiUrl: null };
  const listening = { api: ports.api1, ops: ports.api1Ops };
  const env = {
    ...serviceEnvironment(urls, listening, dataDir),
    SVC_DRAIN_SECONDS: DRAIN_SECONDS,
    SVC_DATABASE_URL: ways.multiUrl,
    ...files,
    ...options.env,
  };
  const keys = await ensureDevKeys(ways.ownerUrl, dataDir);
  await ensureDevAllowlist({ databaseUrl: ways.ownerUrl, dataDir, chain });
  writeClientEnvironments(dataDir, apiUrl, keys);
  return { keys, env };
}

/**
 * Describes the service's processes. The first of each role reaches the database through the
 * pooler, the second by an address that names both servers.
 */
export function serviceParts(
  { logDir, ports }: Place,
  ways: ServiceWays,
  { env }: ConfiguredService,
): readonly ChildSpec[] {
  const listening: Readonly<Record<ServiceProcessName, Record<string, number>>> = {
    'api-1': { SVC_PORT: ports.api1, SVC_OPS_PORT: ports.api1Ops },
    'api-2': { SVC_PORT: ports.api2, SVC_OPS_PORT: ports.api2Ops },
    'worker-1': { SVC_OPS_PORT: ports.worker1Ops, SVC_SDK_METRICS_PORT: ports.worker1Sdk },
    'worker-2': { SVC_OPS_PORT: ports.worker2Ops, SVC_SDK_METRICS_PORT: ports.worker2Sdk },
  };
  const pooled = { SVC_DATABASE_URL: ways.pooledUrl, SVC_DATABASE_POOLER: 'transaction' };
  return SERVICE_PROCESSES.map((name): ChildSpec => {
    const settings = Object.entries(listening[name]);
    const own = Object.fromEntries(settings.map(([key, port]) => [key, String(port)]));
    const part = servicePart({
      role: name.startsWith('api') ? 'api' : 'worker',
      env: { ...env, ...own, ...(name.endsWith('1') ? pooled : {}) },
      opsPort: listening[name]['SVC_OPS_PORT'] ?? 0,
      logDir,
    });
    const logFile = join(logDir, `${name}.log`);
    return { ...part, name, logFile, readyTimeoutMs: START_MS, stopTimeoutMs: 30_000 };
  });
}
