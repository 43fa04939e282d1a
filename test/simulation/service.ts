/** The processes of the service in a simulation: its own parts, put together as service/ does. */
import { pino } from 'pino';
import { createTransferActivities } from '../../activities/capital-transfers/activities.ts';
import { Leaving } from '../../activities/leaving.ts';
import { createMovementActivities } from '../../activities/movement.ts';
import { mayReplaceLost } from '../../activities/phases/replacement.ts';
import { startCallbackRelay } from '../../activities/relays/callbacks.ts';
import { startCommandRelay } from '../../activities/relays/commands.ts';
import { startLaneTender } from '../../activities/relays/lanes.ts';
import { createHealthRefresher } from '../../activities/relays/health.ts';
import { startScout, UNPOKED_MS } from '../../activities/relays/scout.ts';
import { startSweeper, startWaitingSweeper } from '../../activities/relays/sweeper.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import { answer } from '../../api/http/answer.ts';
import { toAnswer } from '../../api/http/errors.ts';
import { createRouter } from '../../api/http/router.ts';
import { parseTarget } from '../../api/http/target.ts';
import { createNoopExecutor } from '../../executors/local/noop.ts';
import { createExecutorRegistry } from '../../executors/registry.ts';
import type { Executor } from '../../domain/executor.ts';
import type { Signer } from '../../domain/signer.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import { createHandOver } from '../../platform/handover.ts';
import { createLocalRequestDesk } from '../../platform/request-desk.ts';
import type { Temporal } from '../../platform/temporal.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { listAllowed, setAllowedAddress } from '../../store/allowlist.ts';
import { keepCommands, noteTaken } from '../../store/commands.ts';
import { createSignerRegistry } from '../../signers/registry.ts';
import type { VenueEntry } from '../../venues/entry.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { openVenues } from '../../venues/open.ts';
import { routes } from '../../venues/routes.ts';
import { SimulatedPool, type Statements } from './machine/database.ts';
import { inProcess, type Machine, type Process } from './machine/machine.ts';
import type { Server, Worker } from './runtime/server.ts';
import type { Receiver } from './worlds/receiver.ts';

const PREFIX = '/v3';
const SETTINGS = {
  apiPrefix: PREFIX,
  approvalTtlSeconds: 600,
  authEnabled: false,
  balanceStaleSeconds: 60,
  bridgeSnapshotMaxAgeSeconds: 3_600,
  edition: 'community',
  temporalNamespace: 'default',
  temporalUiUrl: 'http://localhost:8233',
} as unknown as ApiDependencies['settings'];
const SWEEP_IDLE_SECONDS = 20;
export const CALLBACK_HOST = 'callbacks.simulated';
/** So many that no callback becomes a dead letter. */
const MOST_CALLBACK_ATTEMPTS = 50;
const HEALTH_SECONDS = 60;
/**
 * Pauses of the loops in milliseconds; those of the scout and of nonce lanes are longer than in
 * production, which changes no outcome, since each look is a step.
 */
const PAUSE_MS = UNPOKED_MS;
const SCOUT_MS = { busy: 1_500, quiet: 3_000 };
const LANE_PAUSE_MS = 10_000;

/** What the service pays through. */
export interface Outside {
  readonly executors: readonly Executor[];
  /** The entries of the venues file. */
  readonly venues?: readonly VenueEntry[];
  readonly signers?: readonly Signer[];
}

export interface BareWorld extends Outside {
  readonly machine: Machine;
  readonly statements: Statements;
  readonly server: Server;
  readonly temporal: Temporal;
}

export interface ServiceWorld extends BareWorld {
  readonly receiver: Receiver;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Api {
  readonly process: Process;
  call(method: string, path: string, body?: unknown, headers?: Headers): Promise<ApiAnswer>;
  /** Puts an address on the allowlist or takes it off, which only an operator's session may do. */
  list(address: string, isActive: boolean): Promise<ApiAnswer>;
}
type Headers = Readonly<Record<string, string>>;

const log = pino({ level: process.env['SIMULATION_LOG'] ?? 'silent' });

/** A client of the world's database, once it is ready: that takes real time. */
export async function openDatabase({
  statements,
}: Pick<BareWorld, 'statements'>): Promise<Database> {
  const pool = new SimulatedPool(statements);
  const source = { pool, share: () => source };
  const db = connectDatabase({
    url: 'postgres://simulated@127.0.0.1/simulated',
    openPool: () => source,
  });
  await db.$connect();
  return db;
}

/** What API and worker are made of, whatever database is beneath. */
export function partsOf(db: Database, outside: Outside) {
  const bound = outside.signers ?? [];
  const venues = openVenues(outside.venues ?? [], bound, createLocalRequestDesk());
  const executors = createExecutorRegistry({
    locals: [createNoopExecutor(), ...venues.executors, ...outside.executors],
    remotes: [],
  });
  return { executors, signers: createSignerRegistry(bound), venues, db };
}
type ServiceParts = ReturnType<typeof partsOf>;

/** Starts an API in this process. */
export function startApi(world: BareWorld, db: Database, process: Process): Api {
  const inside = <T>(work: () => T): T => inProcess.run(process, work);
  const parts = partsOf(db, world);
  return {
    process,
    call: createApi(parts, world.temporal, process.name, inside),
    list: (address, isActive) => inside(() => listAddress(db, address, isActive)),
  };
}

async function listAddress(db: Database, address: string, isActive: boolean): Promise<ApiAnswer> {
  const rows = await listAllowed(db, { include_inactive: true }, { limit: 100, after: null }).catch(
    () => [],
  );
  const row = rows.find((each) => each.address === address);
  if (row === undefined) return { status: 503, body: {} };
  const change = {
    by: 'simulation',
    reason: 'simulation',
    cooling_seconds: null,
    audit: (action: AuditEntry['action'], id: string): AuditEntry => ({
      action,
      entity_type: 'allowed_address',
      entity_key: id,
      outcome: 'success',
    }),
  };
  return setAllowedAddress(db, row.id, isActive, change).then(
    () => ({ status: 200, body: {} }),
    () => ({ status: 503, body: {} }),
  );
}

/** The API as a function; `inside` runs what it is passed as the API's process. */
export function createApi(
  { executors, signers, venues, db }: ServiceParts,
  temporal: Pick<Temporal, 'wake'>,
  name: string,
  inside: <T>(work: () => T) => T = (work) => work(),
): Api['call'] {
  const find = createRouter(routes);
  const handOver = inside(() =>
    createHandOver({
      temporal,
      log,
      leases: {
        keep: (ids, seconds) => keepCommands(db, ids, seconds),
        taken: (ids) => noteTaken(db, ids),
      },
    }),
  );
  const deps: ApiDependencies = {
    db,
    log,
    executors,
    signers,
    chains: venues.chainAssets,
    balances: NO_BALANCES,
    handOver: (movementId, command) =>
      handOver.send({
        movementId,
        kind: command?.kind ?? 'wake',
        commandId: command?.command_id ?? null,
      }),
    settings: SETTINGS,
  };
  let requests = 0;
  return (method, path, body, headers = {}) =>
    inside(async () => {
      requests += 1;
      const request_id = `${name}-${String(requests)}`;
      const target = parseTarget(PREFIX + path);
      const match = find(method, path.split('?')[0] ?? '');
      if (match.kind !== 'route') throw new Error(`no route: ${method} ${path}`);
      const sent = Object.entries({
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      }).map(([name, value]) => [name, [value]] as const);
      try {
        const reply = await answer(
          {
            route: match.route,
            params: match.params,
            caller: { client_id: null, key_id: null, role: 'admin' },
          },
          {
            method,
            target,
            headers: Object.fromEntries(sent),
            body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
            request_id,
          },
          {
            request_id,
            started: 0n,
            encoding: undefined,
            route: match.route.id,
            caller: null,
            span: null,
          },
          deps,
        );
        // What a caller gets has crossed a wire.
        const plain: unknown =
          'text' in reply ? { text: reply.text } : JSON.parse(JSON.stringify(reply.body));
        return { status: reply.status, body: plain as Record<string, unknown> };
      } catch (error) {
        const refusal = toAnswer(error, request_id);
        if (refusal.status >= 500) log.warn({ err: error, method, path }, 'a request failed');
        return refusal as ApiAnswer;
      }
    });
}

/** A worker in this process that does what runs request, and has no loops. */
export function startBareWorker(
  world: BareWorld,
  db: Database,
  process: Process,
  around: (activities: Activities) => Activities,
  limits: ActivityLimits,
): Worker {
  const parts = partsOf(db, world);
  return inProcess.run(process, () => {
    const worker: Worker = { process, activities: around(activitiesOf(parts, limits)) };
    world.server.addWorker(worker);
    return worker;
  });
}

interface ActivityLimits {
  readonly soonMs?: number;
  readonly unhurriedSeconds?: number;
}

/** The activities of a worker. */
export function activitiesOf(
  { db, executors, signers, venues }: ServiceParts,
  options: ActivityLimits & { readonly leaving?: Leaving } = {},
) {
  const { leaving = new Leaving(), ...limits } = options;
  return {
    ...createMovementActivities({
      db,
      log,
      executors,
      signers,
      chains: venues.chainAssets,
      unansweredSeconds: 60,
      unhurriedSeconds: 20,
      signing: createEvmSigning(venues.chains, venues.acts),
      leaving,
      ...limits,
    }),
    ...createTransferActivities({
      db,
      log,
      leaving,
      providers: [],
      pendingSeconds: 60,
      unhurriedSeconds: 20,
      refreshBalances: () => undefined,
    }),
  };
}
export type Activities = ReturnType<typeof activitiesOf>;

/** Starts a worker in this process, with the loops that bring lost messages again. */
export function startWorker(world: ServiceWorld, db: Database, process: Process): Worker {
  const parts = partsOf(db, world);
  const { executors, signers, venues } = parts;
  const { temporal, server } = world;
  return inProcess.run(process, () => {
    const activities = activitiesOf(parts);
    const commands = startCommandRelay({ db, temporal, log, pauseMs: PAUSE_MS });
    const callbacks = startCallbackRelay({
      db,
      log,
      allowedHosts: new Set([CALLBACK_HOST]),
      sign: () => ({}),
      maxAttempts: MOST_CALLBACK_ATTEMPTS,
      pauseMs: PAUSE_MS,
      post: (sent) => world.receiver.post(sent),
    });
    const idle = { stop: () => Promise.resolve(), poke: () => undefined };
    startScout({
      db,
      log,
      pace: SCOUT_MS,
      poked: {
        commands: { loop: commands, everyMs: 500 },
        transfers: { loop: idle, everyMs: 500 },
        callbacks: { loop: callbacks, everyMs: 500 },
        audit: { loop: idle, everyMs: 500 },
        proposals: { loop: idle, everyMs: 500 },
        looks: { loop: idle, everyMs: 500 },
      },
    });
    const relay = { db, temporal, log, sweepIdleSeconds: SWEEP_IDLE_SECONDS };
    startSweeper(relay);
    startWaitingSweeper(relay);
    startLaneTender({
      db,
      log,
      chains: venues.chains,
      signers,
      mayReplace: (claim, lost) =>
        mayReplaceLost({ db, executors, signers, chains: venues.chainAssets }, claim, lost),
      pauseMs: LANE_PAUSE_MS,
    });
    createHealthRefresher({
      db,
      executors,
      signers,
      temporal,
      intervalSeconds: HEALTH_SECONDS,
      checkedBy: process.name,
      log,
    }).start();
    const worker: Worker = { process, activities };
    server.addWorker(worker);
    return worker;
  });
}
