import { existsSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { report } from '../bootstrap/progress.mjs';
import { temporalBuildInFlight } from '../bootstrap/temporal-build.mjs';
import { grantService } from '../../prisma/grant.ts';
import { applyMigrations } from '../../prisma/migrate.ts';
import { ensureDevAllowlist } from './allowlist.ts';
import { bridgeParts, bridgeSpenders, planBridges, type StackBridges } from './bridges.ts';
import { perpPart, planPerp, type StackPerp } from './perp.ts';
import { type ChainInfo, chainFile, chainPart, writeChainInfo } from './chain.ts';
import { ensureDevKeys, secretsKeyFile, type DevKeys } from './keys.ts';
import { writeClientEnvironments } from './client-env.ts';
import {
  type DevSettings,
  type PortName,
  type Ports,
  ROOT,
  choosePorts,
  freePort,
  readDevSettings,
} from './ports.ts';
import { type PostgresPart, postgresPart, SERVICE_ROLE } from './postgres.ts';
import { type ServiceRole, paperVenuePart, servicePart } from './service.ts';
import { SEARCH_ATTRIBUTES, writeStackConfig, type MoreEntries } from './config.ts';
import { step } from './step.ts';
import type { ChildSpec } from './supervise/child.ts';
import { type StackUrls, claimDataDir, endOrphans } from './supervise/record.ts';
import { Supervisor } from './supervise/supervisor.ts';
import { type TemporalServer, findTemporalServer } from './temporal-binary.ts';
import { answers, extendRetention, temporalPart } from './temporal.ts';

export { StackAlreadyRunning, findRunningStack, type StackUrls } from './supervise/record.ts';
export { ANY_FREE_PORTS } from './ports.ts';

/** How to start a stack; every option has a default. */
export interface StackOptions {
  /** Data folder and ports; default: from the environment. */
  settings?: DevSettings;
  /** `false`: starts everything except the service. */
  service?: boolean;
  /** Runs API and worker as two processes, `api` and `worker`, instead of one, `service`. */
  split?: boolean;
  /** Restarts parts that end unexpectedly. */
  restart?: boolean;
  /** `false`: no commit waits for the disk; for a temporary stack. */
  durable?: boolean;
  /**
   * `false`: the database is already migrated, perhaps by another build, and its role has its
   * rights.
   */
  migrate?: boolean;
  /**
   * Returns settings with which the service reaches its database in another way, made from the URLs
   * of both roles.
   */
  database?: (serviceUrl: string, ownerUrl: string) => Promise<Record<string, string>>;
  /** Additional environment of the service; overrides the stack's. */
  env?: Record<string, string>;
  /** Allowlisted addresses in addition to those of the stack. */
  allow?: readonly string[];
  /** `true`: adds a second chain, and the bridges between the two (`bridges.ts`). */
  bridges?: boolean;
  /** `true`: adds a perps venue, whose master is the development signer (`perp.ts`). */
  perp?: boolean;
  /** Entries of the registry and venues files in addition to those of the stack. */
  more?: MoreEntries | ((paperVenueUrl: string) => MoreEntries);
  /** Additional settings of a Temporal server started here, `key=value`. */
  temporalConfig?: readonly string[];
  /** Receives each line of progress; default: standard error. */
  log?: (line: string) => void;
  /** Aborts a start in progress; the parts already started are stopped. */
  signal?: AbortSignal;
}

/** A running stack. */
export interface Stack extends Omit<StackUrls, 'chainUrl'> {
  dataDir: string;
  ports: Ports;
  chain: ChainInfo;
  /** The bridges; null on a stack without them. */
  bridges: StackBridges | null;
  /** The perps venue; null on a stack without it. */
  perp: StackPerp | null;
  /** An API key for each role, which signs requests. */
  keys: DevKeys;
  /** Environment that the service was started with. */
  env: Record<string, string>;
  /** Every part by name, with its process id (null while the part is stopped). */
  readonly children: Record<string, { name: string; pid: number | null }>;
  /** Sends a signal to a part; after SIGKILL waits until the part has ended. */
  kill(name: string, signal?: NodeJS.Signals): Promise<void>;
  /** Starts a stopped part and waits until it is ready. */
  startChild(name: string): Promise<void>;
  /** Stops a part with its stop signal; the part stays stopped. */
  stopChild(name: string): Promise<void>;
  /** Stops all parts in order and waits until they have ended. Safe to call again. */
  stop(): Promise<void>;
  /** Kills all parts immediately; `stop` then has nothing to wait for. */
  hurry(): void;
}

interface Context {
  options: StackOptions;
  dataDir: string;
  logDir: string;
  supervisor: Supervisor;
  log: (line: string) => void;
}

/** Starts all parts; each starts as soon as the parts that it needs are ready. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { dataDir, ports: wanted } = options.settings ?? readDevSettings();
  const log = options.log ?? report;
  const logDir = join(dataDir, 'logs');
  mkdirSync(logDir, { recursive: true });
  const release = await claimDataDir(dataDir);
  let supervisor: Supervisor | null = null;
  const stop = async (): Promise<void> => {
    await supervisor?.stopAll();
    release();
  };
  const onAbort = (): void => {
    void temporalBuildInFlight()?.cancel();
    void supervisor?.stopAll();
  };
  options.signal?.addEventListener('abort', onAbort);
  try {
    const orphans = await endOrphans(dataDir);
    if (orphans.length > 0) log(`  - ended what an earlier run left behind: ${orphans.join(', ')}`);
    options.signal?.throwIfAborted();
    const external = (process.env['SVC_TEMPORAL_ADDRESS'] ?? '').trim() !== '';
    const ports = await choosePorts(wanted, neededPorts(options, external));
    supervisor = new Supervisor({ dataDir, restart: options.restart ?? false, log });
    const started = await startParts({ options, dataDir, logDir, supervisor, log }, ports);
    supervisor.announce(started.urls);
    return describe(started, { dataDir, ports, supervisor, stop });
  } catch (error) {
    await stop();
    throw options.signal?.aborted === true ? options.signal.reason : error;
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
  }
}

function neededPorts(options: StackOptions, externalTemporal: boolean): PortName[] {
  const parts: PortName[] = ['postgres', 'chain', 'paperVenue'];
  if (!externalTemporal) parts.push('temporal', 'temporalUi');
  // Also chooses the service's ports when the service is not started here: a person may start it by
  // hand.
  return options.service === false ? [...parts, 'api', 'ops'] : ['api', 'ops', ...parts];
}

interface Started {
  urls: StackUrls;
  chain: ChainInfo;
  bridges: StackBridges | null;
  perp: StackPerp | null;
  keys: DevKeys;
  env: Record<string, string>;
}

async function startParts(context: Context, ports: Ports): Promise<Started> {
  const { dataDir, logDir, options } = context;
  // Written before the chain runs: its content does not depend on the running chain.
  const chain = writeChainInfo(dataDir, ports.chain);
  const taken = Object.values(ports);
  const bridges = options.bridges === true ? await planBridges(dataDir, chain.rpcUrl, taken) : null;
  const perp = options.perp === true ? await planPerp(dataDir, chain, taken) : null;
  const chainSpec = chainPart({
    dataDir,
    port: ports.chain,
    nodePort: await freePort(taken),
    logDir,
    bridges: bridges !== null,
  });
  const bridgeSpecs =
    bridges === null ? [] : await bridgeParts(bridges, { dataDir, logDir, taken });
  const perpSpecs =
    perp === null ? [] : [perpPart(perp, { dataDir, logDir, chainUrl: chain.rpcUrl })];
  const venueSpec = paperVenuePart({
    dataDir,
    chainFile: chainFile(dataDir),
    port: ports.paperVenue,
    logDir,
  });
  const venue = addParts(context, 'Paper venue', [venueSpec]);
  const [{ databaseUrl, serviceUrl }, temporal] = await allOrFirstFault(
    [
      startPostgres(context, ports),
      startTemporal(context, ports),
      addParts(context, 'Local chain', [chainSpec]),
      addParts(context, 'Bridges', bridgeSpecs),
      addParts(context, 'Perps venue', perpSpecs),
    ],
    venue,
  );
  const urls: StackUrls = {
    apiUrl: `http://127.0.0.1:${ports.api}`,
    opsUrl: `http://127.0.0.1:${ports.ops}`,
    uiUrl: temporal.uiUrl,
    temporalAddress: temporal.address,
    databaseUrl,
    chainUrl: chain.rpcUrl,
    paperVenueUrl: `http://127.0.0.1:${ports.paperVenue}`,
  };
  const env = {
    ...serviceEnvironment(urls, ports, dataDir),
    SVC_DATABASE_URL: serviceUrl,
    ...(await options.database?.(serviceUrl, databaseUrl)),
    ...(await writeStackConfig({
      dataDir,
      chain,
      bridges,
      perp,
      paperVenueUrl: urls.paperVenueUrl,
      more:
        typeof options.more === 'function'
          ? options.more(urls.paperVenueUrl)
          : (options.more ?? {}),
      env: process.env,
      log: context.log,
    })),
    ...options.env,
    ...keepSecretsKey(dataDir, options.env),
  };
  const keys = await ensureDevKeys(databaseUrl, dataDir);
  const payees = bridges === null ? [] : bridgeSpenders(bridges);
  const bridged = bridges === null ? [] : [bridges.near.chainId, bridges.far.chainId];
  const settled = perp === null ? [] : [perp.chainId];
  const arrivals = [...new Set([...bridged, ...settled])];
  await ensureDevAllowlist({ databaseUrl, dataDir, chain, arrivals }, [
    ...payees,
    ...(perp === null ? [] : [perp.depositAddress]),
    ...(options.allow ?? []),
  ]);
  writeClientEnvironments(dataDir, urls.apiUrl, keys);
  const service = options.service === false ? Promise.resolve() : startService(context, ports, env);
  await allOrFirstFault([venue, service]);
  return { urls, chain, bridges, perp, keys, env };
}

async function startPostgres(
  context: Context,
  ports: Ports,
): Promise<Pick<PostgresPart, 'databaseUrl' | 'serviceUrl'>> {
  const { dataDir, logDir } = context;
  const part = await step(context, 'Postgres', async () => {
    const prepared = await postgresPart({
      dataDir,
      port: ports.postgres,
      logDir,
      durable: context.options.durable ?? true,
    });
    await context.supervisor.add(prepared.spec);
    return prepared;
  });
  if (context.options.migrate === false) return part;
  await step(context, 'Database migrations', async () => {
    await applyMigrations(part.databaseUrl);
    await grantService(part.databaseUrl, SERVICE_ROLE);
  });
  return part;
}

async function startTemporal(
  context: Context,
  ports: Ports,
): Promise<{ address: string; uiUrl: string | null }> {
  const { dataDir, logDir, log } = context;
  const server: TemporalServer = await findTemporalServer(process.env, log);
  if (server.kind === 'address') {
    if (!(await answers(server.address))) {
      throw new Error(
        `No Temporal server answers at SVC_TEMPORAL_ADDRESS (${server.address}). Start it or unset the setting.`,
      );
    }
    return { address: server.address, uiUrl: process.env['SVC_TEMPORAL_UI_URL'] ?? null };
  }
  const fresh = !existsSync(join(dataDir, 'temporal.db'));
  await step(context, 'Temporal', () =>
    context.supervisor.add(
      temporalPart({
        binary: server.path,
        dataDir,
        port: ports.temporal,
        uiPort: ports.temporalUi,
        logDir,
        searchAttributes: SEARCH_ATTRIBUTES,
        codecEndpoint: encrypts(context.options)
          ? `http://127.0.0.1:${ports.ops}/codec`
          : undefined,
        dynamicConfig: context.options.temporalConfig,
      }),
    ),
  );
  if (fresh) void extendRetention(server.path, ports.temporal);
  return { address: `127.0.0.1:${ports.temporal}`, uiUrl: `http://127.0.0.1:${ports.temporalUi}` };
}

/**
 * Uses the secrets key of the options as the stack's key, since the stack issues API keys under it.
 */
function keepSecretsKey(dataDir: string, env: StackOptions['env'] = {}): Record<string, string> {
  const { SVC_SECRETS_KEY: key } = env;
  if (key === undefined || key === '') return {};
  secretsKeyFile(dataDir, key);
  return { SVC_SECRETS_KEY_FILE: '' };
}

/**
 * Returns whether the service encrypts its payloads, by this process's environment and that of the
 * options.
 */
function encrypts({ env }: StackOptions): boolean {
  const isSet = (name: string): boolean => (env?.[name] ?? process.env[name] ?? '') !== '';
  return isSet('SVC_PAYLOAD_KEYS') || isSet('SVC_PAYLOAD_KEYS_FILE');
}

/**
 * Starts processes as one step. All except the chain wait themselves for the parts that they need.
 */
async function addParts(
  context: Context,
  label: string,
  parts: readonly ChildSpec[],
): Promise<void> {
  if (parts.length === 0) return;
  await step(context, label, () =>
    allOrFirstFault(parts.map((part) => context.supervisor.add(part))),
  );
}

async function startService(
  context: Context,
  ports: Ports,
  env: Record<string, string>,
): Promise<void> {
  const { options, logDir, supervisor } = context;
  const start = (role: ServiceRole, opsPort: number): Promise<void> =>
    supervisor.add(
      servicePart({ role, env: { ...env, SVC_OPS_PORT: String(opsPort) }, opsPort, logDir }),
    );
  await step(context, 'Service', async () => {
    if (options.split !== true) return start('all', ports.ops);
    const workerOpsPort = await freePort(Object.values(ports));
    await allOrFirstFault([start('api', ports.ops), start('worker', workerOpsPort)]);
  });
}

/** Returns the service's environment except for its database and the files of its configuration. */
export function serviceEnvironment(
  urls: Pick<StackUrls, 'temporalAddress' | 'uiUrl'>,
  ports: Pick<Ports, 'api' | 'ops'>,
  dataDir: string,
): Record<string, string> {
  return {
    // Overrides the shell's settings: the stack uses its own Postgres, and the service refuses a
    // file in addition to the URL.
    SVC_DATABASE_URL_FILE: '',
    ...withoutTemporalOf(process.env),
    SVC_TEMPORAL_ADDRESS: urls.temporalAddress,
    SVC_TEMPORAL_NAMESPACE: process.env['SVC_TEMPORAL_NAMESPACE'] ?? 'default',
    ...(urls.uiUrl === null ? {} : { SVC_TEMPORAL_UI_URL: urls.uiUrl }),
    SVC_HOST: '127.0.0.1',
    SVC_PORT: String(ports.api),
    SVC_OPS_HOST: '127.0.0.1',
    SVC_OPS_PORT: String(ports.ops),
    // No proxy has to stop sending requests first, so there is nothing to wait for.
    SVC_DRAIN_SECONDS: '0',
    // Overrides the shell's settings, as with the database: a key there would be a second one.
    SVC_SECRETS_KEY: '',
    SVC_SECRETS_KEY_FILE: secretsKeyFile(dataDir),
  };
}

/**
 * Returns empty values for the shell's settings of another Temporal server (a key, TLS, a profile),
 * unless the shell names a server for the service.
 */
function withoutTemporalOf(env: NodeJS.ProcessEnv): Record<string, string> {
  if ((env['SVC_TEMPORAL_ADDRESS'] ?? '').trim() !== '') return {};
  const theirs = Object.keys(env).filter((name) => /^(SVC_)?TEMPORAL_/.test(name));
  const kept: readonly string[] = ['SVC_TEMPORAL_NAMESPACE', 'SVC_TEMPORAL_UI_URL'];
  return Object.fromEntries(
    theirs.filter((name) => !kept.includes(name)).map((name) => [name, '']),
  );
}

/**
 * Waits for all of `work`, but rejects as soon as one promise of `work` or `besides` rejects. The
 * caller stops the others.
 */
async function allOrFirstFault<T extends readonly unknown[]>(
  work: readonly [...{ [K in keyof T]: Promise<T[K]> }],
  ...besides: Promise<unknown>[]
): Promise<T> {
  return new Promise((resolve, reject) => {
    for (const one of besides) one.catch(reject);
    Promise.all(work as readonly Promise<unknown>[]).then(
      (results) => resolve(results as unknown as T),
      reject,
    );
  });
}

function describe(
  { urls, chain, bridges, perp, keys, env }: Started,
  made: { dataDir: string; ports: Ports; supervisor: Supervisor; stop: () => Promise<void> },
): Stack {
  const { supervisor } = made;
  const { chainUrl: _, ...addresses } = urls;
  return {
    ...addresses,
    dataDir: made.dataDir,
    ports: made.ports,
    chain,
    bridges,
    perp,
    keys,
    env,
    get children() {
      return Object.fromEntries(
        supervisor.names().map((name) => [name, { name, pid: supervisor.pid(name) }]),
      );
    },
    kill: (name, signal = 'SIGKILL') => supervisor.kill(name, signal),
    startChild: (name) => supervisor.start(name),
    stopChild: (name) => supervisor.stop(name),
    stop: made.stop,
    hurry: () => supervisor.hurry(),
  };
}

/** Returns a path for display: relative when it is inside the clone. */
export function shortPath(path: string): string {
  const short = relative(ROOT, path);
  return short.startsWith('..') ? path : short;
}
