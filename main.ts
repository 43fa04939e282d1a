/**
 * The one composition root: settings, then Postgres and Temporal, then the API, the worker or both.
 * `node --import tsx main.ts [all|api|worker]`; `all` becomes `api` with SVC_WORKERS_ENABLED=false.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { register } from 'prom-client';
import type { PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { createMovementActivities } from './activities/movement.ts';
import { workflowBundle } from './activities/bundle.ts';
import { startCallbackRelay } from './activities/relays/callbacks.ts';
import { startCommandRelay, startSweeper } from './activities/relays/commands.ts';
import { startTransferRelay } from './activities/relays/transfers.ts';
import { startBalanceLoops } from './activities/relays/balances.ts';
import { startNonceCleaner } from './activities/relays/nonces.ts';
import { createHealthRefresher } from './activities/relays/health.ts';
import { startSealer } from './activities/relays/seals.ts';
import { installSdkLog } from './activities/sdk-log.ts';
import { createTransferActivities } from './activities/transfers/activities.ts';
import { startWorker, type RunningWorker } from './activities/worker.ts';
import { createApi } from './api/app.ts';
import { freeHook } from './api/auto-approve/free-hook.ts';
import { createGuard, type Guard } from './api/auth/guard.ts';
import { dashboardRoutes } from './api/dashboard/routes.ts';
import { createWriterAuthentication } from './api/dashboard/writer.ts';
import { buildOpenApi } from './api/openapi.ts';
import { signingText } from './api/openapi-signing.ts';
import { commercial } from './api/commercial.ts';
import { autoApproveOf, withExtensions, type ApiExtension } from './api/extension.ts';
import { createOperationMetrics } from './api/operation-metrics.ts';
import { createOps } from './api/ops.ts';
import type { Route } from './api/route.ts';
import { routes } from './api/routes.ts';
import { listen } from './api/server.ts';
import { providerOf } from './domain/capital-transfers/provider.ts';
import { createNoopExecutor } from './executors/local/noop.ts';
import { createExecutorRegistry } from './executors/registry.ts';
import { readRegistryFile } from './executors/registry-file.ts';
import { createAuditMacs, type AuditMacs } from './platform/audit-chain.ts';
import { readConfig, type Config } from './platform/config.ts';
import { readDashboardKeys } from './platform/dashboard-keys.ts';
import { createHandOver } from './platform/handover.ts';
import { createBalanceDesk, type BalanceDesk } from './platform/balance-desk.ts';
import { createLogger } from './platform/log.ts';
import { createPayloadCodec } from './platform/payload-codec.ts';
import { connectTemporal, type Temporal } from './platform/temporal.ts';
import { startTracing, type Tracing } from './platform/tracing.ts';
import { connectDatabase, type Database } from './prisma/client.ts';
import { pendingMigrations } from './prisma/migrate.ts';
import { parseSignerConfigs } from './signers/config.ts';
import { createSignerRegistry, openSigners } from './signers/registry.ts';
import { refreshBalances } from './store/balances.ts';
import { readDatabaseRole } from './store/database-role.ts';
import { readFigures } from './store/metrics.ts';
import { ping } from './store/ping.ts';
import { balanceFetchers } from './venues/balances.ts';
import { loadVenueBindings } from './venues/bindings.ts';
import { createCexExecutors } from './venues/cex/executors.ts';
import { createEvmBalanceObserveExecutor } from './venues/evm/balance-observe.ts';
import { checkSignRequest } from './venues/evm/check-sign-request.ts';
import { createEvmChains } from './venues/evm/client.ts';
import { createSignerBalances, type SignerBalances } from './venues/evm/signer-balances.ts';
import { createEvmTransferExecutor } from './venues/evm/transfer.ts';
import { transferProviders } from './venues/transfers.ts';

/** What the edition adds to every service. */
function extensionsOf(config: Config): readonly ApiExtension[] {
  return config.edition === 'commercial' ? [commercial(config)] : [];
}

const ROLES = ['all', 'api', 'worker'] as const;
type ProcessRole = (typeof ROLES)[number];

/** Stops in reverse order of starting; one part that cannot stop does not keep the others. */
type Stop = () => Promise<void>;

/** What every part of a process is given. */
interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly db: Database;
  readonly temporal: Temporal;
  readonly tracing: Tracing | null;
  readonly payloadCodec: PayloadCodec | undefined;
  readonly auditMacs: AuditMacs;
  readonly bound: Awaited<ReturnType<typeof registries>>;
  readonly balances: SignerBalances;
  readonly desk: BalanceDesk;
  /** Filled as parts start. */
  readonly stops: Stop[];
}

async function main(): Promise<void> {
  const role = roleOf(process.argv[2]);
  const config = readConfig();
  const extensions = extensionsOf(config);
  const table = withExtensions(routes, extensions);
  const stops: Stop[] = [];
  const dashboardKeys =
    role === 'worker' || config.dashboardKeysFile === undefined
      ? null
      : readDashboardKeys(config.dashboardKeysFile, config.dashboardExpectedKeys);
  const log = createLogger(config, role);
  if (role !== 'api') installSdkLog(log);
  stopOnSignal(stops, (error) => log.error({ err: error }, 'a part did not stop cleanly'));

  const parts = await connect({ config, role, log, stops });
  const worker = role !== 'api' && config.workersEnabled ? await startWork(parts) : null;
  const apiPort = role === 'worker' ? config.port : await startApi(parts, { extensions, table, dashboardKeys });
  await startOps(parts, { table, apiPort, worker });
}

/** Connections and registries; nothing takes work yet. */
async function connect(options: Pick<Parts, 'config' | 'log' | 'stops'> & { readonly role: ProcessRole }): Promise<Parts> {
  const { config, log, stops, role } = options;
  const auditMacs = createAuditMacs(config.secretsKeys);
  const tracing = config.tracing === null ? null : await startTracing(config.tracing, { role, log });
  if (tracing !== null) stops.push(() => tracing.stop());
  const db = connectDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    // Whoever writes a callback knows from this whether it is a dead letter from the start.
    sessionSettings: { 'svc.callback_allowed_hosts': config.callbackHosts.join(',') },
    auditMac: auditMacs.ofRow,
  });
  stops.push(() => db.$disconnect());
  void warnOfPower(db, log);
  const payloadCodec = config.payloadKeys.length === 0 ? undefined : createPayloadCodec(config.payloadKeys);
  const temporal = connectTemporal({
    address: config.temporalAddress,
    namespace: config.temporalNamespace,
    payloadCodec,
    interceptor: tracing?.clientInterceptor,
  });
  stops.push(() => temporal.close());
  const bound = await registries(config);
  stops.push(() => bound.executors.close());
  const balances = createSignerBalances(bound.chains);
  const desk = createBalanceDesk(bound.fetchers, (venueKey, fetch) => refreshBalances(db, venueKey, fetch));
  return { config, log, db, temporal, tracing, payloadCodec, auditMacs, bound, balances, desk, stops };
}

/** The worker, and the loops that go beside it. */
async function startWork(parts: Parts): Promise<RunningWorker> {
  const { config, log, db, temporal, tracing, payloadCodec, bound, desk, stops } = parts;
  const { executors, signers, chains, transferProviders: providers } = bound;
  const bundlePath = await workflowBundle(join(config.dataDir, 'cache'), {
    encodeFailures: payloadCodec !== undefined,
    callStacks: config.workflowCallStacks,
    traceHeaders: tracing !== null,
  });
  const worker = startWorker({
    address: config.temporalAddress,
    namespace: config.temporalNamespace,
    activities: {
      ...createMovementActivities({
        db,
        log,
        executors,
        signers,
        checkSignRequest: async (row, amount, call) =>
          row.sign_request === null
            ? null
            : checkSignRequest(chains, row.sign_request, { action_type: row.node.action_type, config: row.node.config, amount }, call),
      }),
      ...createTransferActivities({
        ...{ db, log, providers },
        pendingSeconds: config.transferPendingSeconds,
        refreshBalances: (venueKey) => void desk.refresh(venueKey, { anew: true })?.catch(() => undefined),
      }),
    },
    bundlePath,
    payloadCodec,
    activityInterceptor: tracing === null ? undefined : (await import('./activities/tracing.ts')).activityTracing,
    log,
    beforeWork: () => temporal.registerSearchAttributes(log),
  });
  stops.push(() => worker.stop());
  startLoops(parts);
  return worker;
}

/** What is done behind the requests, in every process that takes work. */
function startLoops({ config, log, db, temporal, auditMacs, bound, balances, desk, stops }: Parts): void {
  const relay = { db, temporal, log, sweepIdleSeconds: config.sweepIdleSeconds };
  const { executors, signers } = bound;
  const loops = [
    startCommandRelay(relay),
    startSweeper(relay),
    startTransferRelay(relay),
    startCallbackRelay({
      db,
      log,
      allowedHosts: new Set(config.callbackHosts),
      sign: config.callbackSigner,
      maxAttempts: config.callbackMaxAttempts,
    }),
    startNonceCleaner({ db, log }),
    startSealer({ db, log, macs: auditMacs }),
    ...startBalanceLoops(desk, log),
  ];
  const health = createHealthRefresher({ db, executors, signers, temporal, intervalSeconds: config.healthIntervalSeconds, balances, log });
  health.start();
  stops.push(async () => void (await Promise.all([...loops.map((loop) => loop.stop()), health.stop()])));
}

/** The API; answers the port that it listens on. */
async function startApi(
  { config, log, db, temporal, tracing, bound, desk, stops }: Parts,
  given: {
    readonly extensions: readonly ApiExtension[];
    readonly table: readonly Route[];
    readonly dashboardKeys: ReturnType<typeof readDashboardKeys> | null;
  },
): Promise<number> {
  const handOver = createHandOver({ temporal, log, bind: tracing?.bind });
  stops.push(() => handOver.stop());
  const app = createApi(
    {
      db,
      log,
      executors: bound.executors,
      signers: bound.signers,
      balances: desk,
      handOver: (movementId, command) =>
        handOver.send({ movementId, kind: command?.kind ?? 'wake', commandId: command?.command_id ?? null }),
      transfers: {
        accounts: bound.transferProviders.flatMap(({ accounts }) => accounts),
        settleSeconds: (row) => providerOf(bound.transferProviders, row)?.settle_seconds ?? 0,
        handOver: (transferId, kind) => handOver.send({ transferId, kind, commandId: null }),
      },
      autoApprove: config.autoApproveEnabled ? (autoApproveOf(given.extensions) ?? freeHook) : null,
      settings: {
        apiPrefix: config.apiPrefix,
        approvalTtlSeconds: config.approvalTtlSeconds,
        authEnabled: config.authEnabled,
        balanceStaleSeconds: config.balanceStaleSeconds,
        temporalNamespace: config.temporalNamespace,
        temporalUiUrl: config.temporalUiUrl,
      },
    },
    given.table,
    {
      ...(config.authEnabled ? { guard: guardOf(config, db, log) } : {}),
      dashboard: {
        routes: dashboardRoutes(config.allowlistCoolingSeconds),
        authenticate: createWriterAuthentication({ db, log, keys: given.dashboardKeys, maxSkewSeconds: config.authMaxSkewSeconds }),
      },
      tracing: tracing ?? undefined,
    },
  );
  if (!config.authEnabled) {
    log.warn('SVC_AUTH_ENABLED=false: requests are not authenticated, every caller acts as admin; listening on loopback only');
  }
  const api = await listen({ app, host: config.host, port: config.port, setting: 'SVC_PORT' });
  stops.push(() => api.close());
  log.info({ port: api.port }, 'the API listens');
  return api.port;
}

/** The operations listener: health, metrics, documentation. */
async function startOps(
  { config, log, db, temporal, payloadCodec, balances, stops }: Parts,
  given: { readonly table: readonly Route[]; readonly apiPort: number; readonly worker: RunningWorker | null },
): Promise<void> {
  const { table, apiPort, worker } = given;
  const { metricsDb, metrics } = metricsPage(config, balances.list);
  stops.push(() => metricsDb.$disconnect());
  const ops = await listen({
    app: createOps({
      openapi: buildOpenApi(table, {
        apiPrefix: config.apiPrefix,
        serverUrl: `http://${config.host}:${apiPort}`,
        authEnabled: config.authEnabled,
        maxSkewSeconds: config.authMaxSkewSeconds,
      }),
      signing: signingText(config.authMaxSkewSeconds),
      metrics,
      codec: payloadCodec === undefined ? undefined : { codec: payloadCodec, uiOrigin: new URL(config.temporalUiUrl).origin },
      checks: {
        postgres: { required: true, check: () => ping(db).then(() => ({ ok: true })) },
        migrations: {
          required: true,
          check: async () => {
            const pending = await pendingMigrations(config.databaseUrl);
            return pending.length === 0 ? { ok: true } : { ok: false, detail: `not applied: ${pending.join(', ')}` };
          },
        },
        // An API-only process goes on answering without Temporal, so it reports it and does not depend on it.
        temporal: { required: worker !== null, check: async () => temporal.check().then(() => ({ ok: true })) },
        worker: {
          required: worker !== null,
          check: async () => (worker === null ? { ok: false, detail: 'not hosted by this process' } : { ok: worker.isRunning() }),
        },
      },
    }),
    host: config.opsHost,
    port: config.opsPort,
    setting: 'SVC_OPS_PORT',
  });
  stops.push(() => ops.close());
  log.info({ port: ops.port }, 'the operations listener is up');
}

/** Who may call, from the settings. */
function guardOf(config: Config, db: Database, log: Logger): Guard {
  const {
    secretsKeys,
    authMaxSkewSeconds: maxSkewSeconds,
    rateLimitEnabled,
    rateLimitReadRpm: readRpm,
    rateLimitWriteRpm: writeRpm,
  } = config;
  return createGuard({ db, log, secretsKeys, maxSkewSeconds, rateLimits: rateLimitEnabled ? { readRpm, writeRpm } : null });
}

function roleOf(text: string | undefined): ProcessRole {
  const role = ROLES.find((each) => each === (text ?? 'all'));
  if (role === undefined) throw new Error(`unknown role "${text ?? ''}": use ${ROLES.join(', ')}`);
  return role;
}

/** Executors, signers and chains as the registry and venues files declare them. */
async function registries(config: Config) {
  const file =
    config.registryFile === undefined ? { executors: [], signers: [], folder: '.' } : readRegistryFile(config.registryFile, z.unknown());
  const signers = await openSigners(parseSignerConfigs([...file.signers], { allowLocal: config.allowLocalSigners }), {
    baseDir: file.folder,
  });
  const bindings = config.venuesFile === undefined ? [] : await loadVenueBindings(config.venuesFile);
  const chains = createEvmChains(bindings.filter((binding) => binding.provider === 'evm'));
  const executors = createExecutorRegistry({
    locals: [
      createNoopExecutor(),
      createEvmTransferExecutor(chains),
      createEvmBalanceObserveExecutor(chains),
      ...createCexExecutors(bindings.filter((binding) => binding.provider === 'ccxt')),
    ],
    remotes: file.executors,
  });
  return {
    executors,
    signers: createSignerRegistry(signers),
    chains,
    fetchers: balanceFetchers(bindings),
    transferProviders: transferProviders(bindings),
  };
}

/** A role that could rewrite the audit trail works as well as any, so nothing else would tell. */
async function warnOfPower(db: Database, log: Logger): Promise<void> {
  try {
    const role = await readDatabaseRole(db);
    if (!role.may_rewrite_audit) return;
    log.warn({ role: role.name }, 'the database role could rewrite the audit trail; use one made with fundadmin database grant');
  } catch (error) {
    log.warn({ err: error }, 'what the database role may do was not checked: the database did not answer');
  }
}

/** The metrics of this process and of the database, over a connection of their own that gives up soon. */
function metricsPage(config: Config, balances: SignerBalances['list']) {
  const metricsDb = connectDatabase({
    url: config.databaseUrl,
    poolSize: 1,
    connectTimeoutMs: 2_000,
    applicationName: 'fund-movement-orchestrator-metrics',
    sessionSettings: { statement_timeout: '2000' },
  });
  const operation = createOperationMetrics({ read: () => readFigures(metricsDb), balances });
  const text = async (): Promise<string> => [await register.metrics(), await operation()].join('\n');
  return { metricsDb, metrics: { contentType: register.contentType, metrics: text } };
}

/** SIGTERM, Ctrl-C or the end of the parent process: stop taking work, finish what runs, leave. */
function stopOnSignal(stops: Stop[], report: (error: unknown) => void): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    for (const each of [...stops].reverse()) await each().catch(report);
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop());
  process.on('disconnect', () => void stop());
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
