/** Starts the API of a process: its routes, who may call them, and the socket. */
import { createSecretKey, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { createApi } from '../api/app.ts';
import { serveConsole } from '../api/console/serve.ts';
import { freeHook } from '../api/auto-approve/free-hook.ts';
import { createGuard, type Guard } from '../api/auth/guard.ts';
import { createOperatorAuthentication } from '../api/dashboard/authenticate.ts';
import { createConsoleFeed } from '../api/dashboard/console-feed.ts';
import { createStreamDoor } from '../api/dashboard/stream.ts';
import { createNonces } from '../api/dashboard/nonces.ts';
import { createEnrol } from '../api/dashboard/enrol.ts';
import { enrolledKeys } from '../api/dashboard/enrolled.ts';
import { fileKeys } from '../api/dashboard/operators.ts';
import { createOriginCheck } from '../api/dashboard/origin.ts';
import { createSessions } from '../api/dashboard/sessions.ts';
import { createHostCheck } from '../api/http/host.ts';
import { commercial } from '../api/commercial.ts';
import { autoApproveOf, withExtensions, type ApiExtension } from '../api/extension.ts';
import type { Route } from '../api/http/route.ts';
import { listen } from '../api/http/server.ts';
import { routes } from '../venues/routes.ts';
import { apiSettings } from '../api/settings.ts';
import { providerOf } from '../domain/capital-transfers/provider.ts';
import type { Config } from '../platform/config.ts';
import { readConsole, type ConsoleFiles } from '../platform/console-files.ts';
import { readDashboardKeys } from '../platform/dashboard-keys.ts';
import { createHandOver } from '../platform/handover.ts';
import { deriveKeys } from '../platform/secrets.ts';
import { shareConnections, type Database } from '../prisma/client.ts';
import { readConsoleEvents } from '../store/console-events.ts';
import { keepCommands, noteTaken } from '../store/commands.ts';
import { createAccountReader } from '../venues/evm/account-reader.ts';
import { claimReaders, createLooks } from './looks.ts';
import type { Parts } from './parts.ts';

/** Longest time for running requests to finish after new ones are refused. */
export const FINISH_SECONDS = 30;

/** What the API needs that is known before any connection is open. */
export interface ApiPlan {
  readonly extensions: readonly ApiExtension[];
  readonly table: readonly Route[];
  readonly dashboardKeys: ReturnType<typeof readDashboardKeys> | null;
  /** The files of the operators' page; null if the page is not served. */
  readonly console: ConsoleFiles | null;
}

/**
 * Returns the plan of the API. Throws if the API could not start. A process without an API uses the
 * plan only to describe the routes.
 */
export function planApi(config: Config): ApiPlan {
  const extensions = config.edition === 'commercial' ? [commercial(config)] : [];
  const { dashboardKeysFile, dashboardExpectedKeys } = config;
  const dashboardKeys =
    dashboardKeysFile === undefined
      ? null
      : readDashboardKeys(dashboardKeysFile, dashboardExpectedKeys);
  const files = config.consoleEnabled ? readConsole() : null;
  return { extensions, table: withExtensions(routes, extensions), dashboardKeys, console: files };
}

/** Starts the API and returns the port on which it listens. */
export async function startApi(
  { config, log, db: whole, temporal, tracing, bound, desk, stops }: Parts,
  plan: ApiPlan,
): Promise<number> {
  const { venues } = bound;
  const db = shareConnections(whole, apiConnections(config.databasePoolSize));
  const handOver = createHandOver({
    temporal,
    log,
    bind: tracing?.bind,
    // Leases use connections outside the API's share: requests may take all of that share, and no
    // lease would be renewed.
    leases: {
      keep: (ids, seconds) => keepCommands(whole, ids, seconds),
      taken: (ids) => noteTaken(whole, ids),
    },
  });
  // The nonce key is derived from the secrets, so that all processes accept each other's nonces
  // without a database table. Without authentication there may be no secret, and there is only one
  // process.
  const shared = deriveKeys(config.secretsKeys, 'dashboard-nonce');
  const nonces = createNonces(shared.length > 0 ? shared : [createSecretKey(randomBytes(32))]);
  let { port } = config;
  const feed = createConsoleFeed({
    log,
    read: (after, atMost) => readConsoleEvents(db, after, atMost),
  });
  const origin = (): string => config.consoleOrigin ?? `http://localhost:${String(port)}`;
  const inFile = fileKeys(plan.dashboardKeys);
  const keys = enrolledKeys(db, config.secretsKeys, inFile);
  const sessions = createSessions({ db, keys, origin });
  const authentication = createOperatorAuthentication({
    db,
    log,
    keys,
    sessions,
    nonces,
    maxSkewSeconds: config.authMaxSkewSeconds,
  });
  const enrol = createEnrol({ db, log, secretsKeys: config.secretsKeys, file: inFile });
  const door = createStreamDoor(authentication, keys);
  const app = createApi(
    {
      db,
      log,
      executors: bound.executors,
      signers: bound.signers,
      chains: venues.chainAssets,
      accounts: createAccountReader(venues),
      bridge: venues.bridge,
      ...(venues.mints === undefined ? {} : { mints: venues.mints }),
      claims: claimReaders(venues.claims, createLooks(db)),
      venues: venues.access,
      requirements: venues.requirements,
      balances: desk,
      handOver: (movementId, command) =>
        handOver.send({
          movementId,
          kind: command.kind,
          commandId: command.command_id,
          about: {
            amount: command.plan.intent.amount,
            asset: command.plan.intent.asset,
            template_key: command.plan.template.template_key,
            strategy_id: command.strategy_id,
          },
        }),
      transfers: {
        accounts: venues.transferProviders.flatMap(({ accounts }) => accounts),
        settleSeconds: (row) => providerOf(venues.transferProviders, row)?.settle_seconds,
        handOver: (transferId, kind) => handOver.send({ transferId, kind, commandId: null }),
      },
      redact: config.redact,
      consoleOrigin: origin,
      autoApprove: config.autoApproveEnabled ? (autoApproveOf(plan.extensions) ?? freeHook) : null,
      settings: apiSettings(config),
    },
    plan.table,
    {
      ...(config.authEnabled ? { guard: guardOf(config, db, log) } : {}),
      dashboard: {
        parts: () => ({
          ...{ nonces, feed, authentication, sessions, enrol },
          cooling: config.allowlistCoolingSeconds,
          opener: door.authenticate,
          mayStay: door.mayStay,
          most: config.consoleStreamsMax,
        }),
        origin,
        authentication,
      },
      ...(plan.console === null
        ? {}
        : { console: serveConsole(plan.console, createOriginCheck(origin)) }),
      tracing: tracing ?? undefined,
      checkHost: createHostCheck([config.host, ...config.allowedHosts]),
    },
  );
  if (!config.authEnabled) {
    log.warn(
      'SVC_AUTH_ENABLED=false: requests are not authenticated, every caller acts as admin; listening on loopback only',
    );
  }
  const api = await listen({
    app,
    host: config.host,
    port: config.port,
    setting: 'SVC_PORT',
    graceMs: FINISH_SECONDS * 1_000,
  });
  ({ port } = api);
  stops.work.push({
    name: 'api',
    stop: async (drained) => {
      api.sayGoodbye();
      await drained;
      // The load balancer sends no new requests here by now, so readers of the feed reconnect to
      // another process.
      feed.close();
      const cut = await api.close();
      await handOver.stop();
      return cut;
    },
  });
  log.info({ port: api.port, edition: config.edition }, 'the API listens');
  return api.port;
}

/**
 * Returns the most connections that the API may use. The rest stay free for a worker in this
 * process and for the balance fetchers, under any API load.
 */
function apiConnections(all: number): number {
  return Math.max(1, all - Math.max(1, Math.floor(all / 4)));
}

/** Creates, from the settings, the check of who may call the API. */
function guardOf(config: Config, db: Database, log: Logger): Guard {
  const {
    secretsKeys,
    authMaxSkewSeconds: maxSkewSeconds,
    rateLimitEnabled,
    rateLimitReadRpm: readRpm,
    rateLimitWriteRpm: writeRpm,
    rateLimitShared: shared,
  } = config;
  return createGuard({
    db,
    log,
    secretsKeys,
    maxSkewSeconds,
    rateLimits: rateLimitEnabled ? { readRpm, writeRpm, shared } : null,
  });
}
