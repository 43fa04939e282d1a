/** Starts the operations listener: health, metrics, documentation. */
import type { RequestListener } from 'node:http';
import { collectDefaultMetrics, register } from 'prom-client';
import { DESCRIBED } from '../api/dashboard/routes.ts';
import { createHostCheck } from '../api/http/host.ts';
import { buildOpenApi } from '../api/openapi/document.ts';
import { signingText } from '../api/openapi/signing.ts';
import { createOperationMetrics } from '../api/operations/metrics.ts';
import { createOps, whileStarting } from '../api/operations/listener.ts';
import type { Route } from '../api/http/route.ts';
import { listen } from '../api/http/server.ts';
import { connectDatabase } from '../prisma/client.ts';
import { readBuild, schemaFault, stateAt } from '../prisma/migration-state.ts';
import { readFigures } from '../store/metrics.ts';
import { ping } from '../store/ping.ts';
import { startClocks } from './clocks.ts';
import { databaseCertificateDays, databaseOptions } from './database.ts';
import type { Parts } from './parts.ts';
import type { Work } from './worker.ts';

/**
 * Milliseconds. With the handshake that explains a failure, a check stays below the usual time
 * limit of a health check.
 */
const TEMPORAL_CHECK_MS = 1_800;

export interface OpsListener {
  /** Serves this from now on. */
  serve(app: RequestListener): void;
  close(): Promise<unknown>;
}

/**
 * Opens the operations listener, before anything is waited for: a process that waits for its
 * database is alive, and not ready.
 */
export async function openOps({
  config,
  log,
  stops,
}: Pick<Parts, 'config' | 'log' | 'stops'>): Promise<OpsListener> {
  let app = whileStarting('the process starts, and waits for the database first');
  const ops = await listen({
    app: (request, response) => {
      app(request, response);
    },
    host: config.opsHost,
    port: config.opsPort,
    setting: 'SVC_OPS_PORT',
    graceMs: 1_000,
  });
  stops.listener = async () => {
    await ops.close();
  };
  log.info({ port: ops.port }, 'the operations listener is up');
  return {
    serve: (next) => {
      app = next;
    },
    close: () => ops.close(),
  };
}

/** Serves health, metrics and documentation of a process that has started. */
export async function startOps(
  parts: Parts,
  served: {
    readonly listener: OpsListener;
    readonly table: readonly Route[];
    readonly apiPort: number;
    readonly work: Work | null;
  },
): Promise<void> {
  const { config, temporal, access, payloadCodec, stops } = parts;
  const { listener, table, apiPort, work } = served;
  const build = await readBuild();
  const clocks = work?.clocks ?? startClocks(parts);
  const { opsDb, metrics } = metricsPage(parts);
  stops.listener = async () => {
    await listener.close();
    await opsDb.$disconnect();
  };
  listener.serve(
    createOps({
      isDraining: () => stops.stopping,
      checkHost: createHostCheck([config.opsHost, ...config.allowedHosts]),
      openapi: buildOpenApi(table, {
        apiPrefix: config.apiPrefix,
        serverUrl: `http://${config.host}:${apiPort}`,
        authEnabled: config.authEnabled,
        maxSkewSeconds: config.authMaxSkewSeconds,
        edition: config.edition,
        dashboard: DESCRIBED,
      }),
      signing: signingText(config.authMaxSkewSeconds),
      metrics,
      codec:
        payloadCodec === undefined
          ? undefined
          : { codec: payloadCodec, uiOrigin: new URL(config.temporalUiUrl).origin },
      checks: {
        postgres: { required: true, check: () => ping(opsDb).then(() => ({ ok: true })) },
        migrations: {
          required: true,
          check: async () => {
            const fault = schemaFault(await stateAt(config.databaseUrl, build));
            return fault === null ? { ok: true } : { ok: false, detail: fault };
          },
        },
        // A process with only the API works without Temporal: it reports Temporal's state and stays
        // ready.
        temporal: {
          required: work !== null,
          check: async () => {
            try {
              await temporal.check(TEMPORAL_CHECK_MS);
            } catch (error) {
              const { setting, message } = await temporal.explain(error);
              return { ok: false, detail: `${setting}: ${message}` };
            }
            const days = access.daysLeft();
            return days === null
              ? { ok: true }
              : { ok: true, detail: `its certificates hold for ${String(days)} days` };
          },
        },
        worker: {
          required: work !== null,
          check: async () =>
            work === null
              ? { ok: false, detail: 'not hosted by this process' }
              : { ok: work.worker.isRunning() },
        },
        // A clock that cannot be read is reported, but the process stays ready.
        clocks: {
          required: false,
          check: async () => {
            const unread = clocks.unread();
            return unread.length === 0
              ? { ok: true }
              : { ok: false, detail: `cannot be read: ${unread.join(', ')}` };
          },
        },
      },
    }),
  );
}

/**
 * Makes the metrics of this process and of the database, over two separate connections with short
 * time-outs: one for the figures, and one that checks whether Postgres answers, however busy this
 * process is.
 */
function metricsPage({ config, balances, bound, desk, access }: Parts) {
  // Of the process itself: its CPU, memory and event loop. The loop is looked at every 100 ms: at
  // the default of 10 ms these looks are most of what an idle process costs.
  collectDefaultMetrics({ eventLoopMonitoringPrecision: 100 });
  const opsDb = connectDatabase({
    ...databaseOptions(config),
    poolSize: 2,
    connectTimeoutMs: 2_000,
    applicationName: 'fund-movement-orchestrator-metrics',
    statementTimeoutMs: 2_000,
  });
  const operation = createOperationMetrics({
    read: () => readFigures(opsDb, config.balanceStaleSeconds),
    balances: balances.list,
    chains: bound.venues.chainAssets,
    venues: desk.venues.map(({ venue_key }) => venue_key),
    failingSeconds: (venueKey) => desk.failingSeconds(venueKey),
    certificateDaysLeft: access.daysLeft,
    databaseCertificateDaysLeft: databaseCertificateDays(config.databaseUrl),
  });
  const text = async (): Promise<string> =>
    [await register.metrics(), await operation()].join('\n');
  return { opsDb, metrics: { contentType: register.contentType, metrics: text } };
}
