/** What brings about each alert of deploy/monitoring/alerts in a running topology, and ends it. */
import { appendFileSync, copyFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signedFetch } from '../../test/support/signed-fetch.ts';
import { freePort, ROOT } from '../stack/ports.ts';
import { SERVICE_ROLE } from '../stack/postgres.ts';
import { query } from '../stack/standby.ts';
import { DYNAMIC_CONFIG_FILE } from '../stack/temporal.ts';
import { GATED, TRANSFER, WITHDRAWAL, type Mover } from './movements.ts';
import { loopback } from './start.ts';
import { dynamicConfigFile } from './temporal.ts';
import type { Topology } from './topology.ts';

/** What a fault works on. */
export interface Scene {
  readonly topology: Topology;
  readonly mover: Mover;
  readonly signal: AbortSignal;
}

/** A fault that makes an alert fire. */
export interface AlertFault {
  /** A text of the rule and what stands there instead, so that it fires within seconds. */
  readonly shorter?: readonly [string, string];
  bring(scene: Scene): Promise<void>;
  /** Ends it; called also when the alert did not fire. */
  heal(scene: Scene): Promise<void>;
}

/** An alert without a fault here; its unit tests hold it. */
export interface HeldByUnitTests {
  readonly why: string;
}

/** An alert that fires without a fault. */
export interface AlwaysFires {
  readonly always: true;
}

/** Settings of the service that make faults show within seconds. */
export const ALERT_SETTINGS = {
  SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '5',
  SVC_UNPROVEN_ASK_SECONDS: '2',
  SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '2',
  SVC_WORKER_SLOTS: '6',
  SVC_CALLBACK_ALLOWED_HOSTS_CSV: '127.0.0.1',
  SVC_CALLBACK_HMAC_SECRET: 'topology-secret',
} as const;

const MOVEMENT_MS = 180_000;
const WORKERS = ['worker-1', 'worker-2'] as const;
const APIS = ['api-1', 'api-2'] as const;
/** Reserved for documentation: no callback is allowed to go there. */
const FORBIDDEN_CALLBACK = 'https://192.0.2.1/callbacks';
/** A port that is no process's: connections are refused. */
const NO_LISTENER = 1;
/** Slower than a request waits for a free connection. */
const SLOW_MS = 4_000;
const AT_ONCE = 200;
/** More than both workers have slots. */
const SENDS = 60;

/** The alerts by name. A test holds this table against the rule files. */
export const ALERT_FAULTS: Readonly<Record<string, AlertFault | HeldByUnitTests | AlwaysFires>> = {
  UnknownOutcome: { bring: sendIntoSilence, heal: healVenue },
  RunStuck: { why: 'a run gets stuck on the code of another build' },
  ApprovalCompromised: { why: 'test/http/approval-rules.test.ts marks a key and sees the reason' },
  ApprovalUnsatisfiable: { why: 'the topology has no approval rules' },
  MovementHeldUp: {
    bring: async ({ topology, mover }) => {
      await topology.kill('paper-venue');
      await mover.start();
    },
    heal: ({ topology }) => topology.restart('paper-venue'),
  },
  LaneBlocked: {
    shorter: ['> 600', '> 5'],
    bring: async ({ topology, mover }) => {
      await fillWallet(mover);
      await setFaults(topology.ports.chain, { mining: 'paused' });
      await mover.start(TRANSFER, { intent: { asset: 'USDC', amount: '5' } });
    },
    heal: ({ topology }) => setFaults(topology.ports.chain, null),
  },
  LaneStuck: { why: 'test/faults/lanes.test.ts brings a lane there, step by step' },
  SignerLowOnGas: {
    bring: async ({ topology, mover }) => {
      await payFromWallet(mover);
      await setSignerBalance(topology, 1n);
    },
    heal: ({ topology }) => setSignerBalance(topology, 10n ** 22n),
  },
  SignerBalanceUnread: {
    bring: async ({ topology, mover }) => {
      await payFromWallet(mover);
      await topology.network.cut('chain');
    },
    heal: ({ topology }) => topology.network.heal('chain'),
  },
  NodesUnanswered: {
    shorter: ['> 300', '> 3'],
    bring: sendIntoSilence,
    heal: healVenue,
  },
  LateLooksOverdue: { why: 'its figure counts what has been due for an hour' },
  LateLooksFail: { why: 'its figure counts what has failed for an hour' },
  BalancesOld: {
    // Balances are read every 30 s.
    shorter: ['> 300', '> 60'],
    bring: ({ topology }) => topology.kill('paper-venue'),
    heal: ({ topology }) => topology.restart('paper-venue'),
  },
  PerpAgentNeedsRenewal: { why: 'the topology has no perps venue' },
  ExecutorDown: {
    bring: ({ topology }) => topology.kill('paper-venue'),
    heal: ({ topology }) => topology.restart('paper-venue'),
  },
  CutoverNotNormal: {
    bring: ({ mover }) => mover.cutover('drain'),
    heal: ({ mover }) => mover.cutover('normal'),
  },
  ClockOff: { why: 'the processes of one machine have one clock' },
  RelayLag: {
    shorter: ['> 60', '> 5'],
    bring: approveWithoutWorkers,
    heal: startWorkers,
  },
  CallbacksLate: {
    shorter: ['> 900', '> 3'],
    // Only workers deliver.
    bring: async ({ topology, mover }) => {
      await killWorkers({ topology });
      await mover.start(WITHDRAWAL, { callback_url: await openReceiver() });
    },
    heal: startWorkers,
  },
  DeadLetters: {
    // Until its end, so that no further callback follows the healing.
    bring: async ({ mover }) => {
      const id = await mover.start(WITHDRAWAL, { callback_url: FORBIDDEN_CALLBACK });
      await mover.restOf(id, MOVEMENT_MS);
    },
    // A callback that is owed cannot be removed.
    heal: ({ topology }) =>
      statement(
        topology.ownerUrl,
        `UPDATE callbacks SET status = 'delivered' WHERE status = 'dead_letter'`,
      ),
  },
  SealingLag: {
    shorter: ['> 60', '> 5'],
    bring: approveWithoutWorkers,
    heal: startWorkers,
  },
  ForeignAuditRows: {
    bring: ({ topology }) =>
      statement(
        topology.ownerUrl,
        `INSERT INTO audit_events (event_id, occurred_at, action, entity_type, entity_key, outcome,
           details)
         VALUES (gen_random_uuid(), svc_now(), 'movement.approve', 'movement', 'topology',
           'success', '{}')`,
      ),
    // The counter lives as long as the worker that saw the row.
    heal: async (scene) => {
      await killWorkers(scene);
      await startWorkers(scene);
    },
  },
  ReplicationLost: {
    bring: ({ topology }) => topology.kill(topology.serverOf('fund', 'standby')),
    heal: ({ topology }) => topology.restart(topology.serverOf('fund', 'standby')),
  },
  CommitsWait: {
    bring: async ({ topology, mover }) => {
      await topology.kill(topology.serverOf('fund', 'standby'));
      // None of them is answered before the standby is back.
      startUnwatched(mover, 20);
    },
    heal: ({ topology }) => topology.restart(topology.serverOf('fund', 'standby')),
  },
  FiguresMissing: {
    bring: ({ topology }) => topology.network.cut('fund-vip'),
    heal: ({ topology }) => topology.network.heal('fund-vip'),
  },
  ProcessDown: {
    bring: ({ topology }) => topology.kill('worker-2'),
    heal: ({ topology }) => topology.restart('worker-2'),
  },
  ProcessRestarts: {
    // The rules look back over half a minute, in which there is time for one start.
    shorter: ['> 3', '> 0'],
    bring: async ({ topology }) => {
      await topology.kill('api-2');
      await topology.restart('api-2');
    },
    heal: ({ topology }) => topology.restart('api-2'),
  },
  ApiGone: {
    bring: async ({ topology }) => {
      for (const name of APIS) await topology.kill(name);
    },
    heal: async ({ topology }) => {
      await Promise.all(APIS.map((name) => topology.restart(name)));
    },
  },
  WorkerGone: { bring: killWorkers, heal: startWorkers },
  LoopFails: {
    shorter: ['> 600', '> 5'],
    // The loop that adds up counts changes this table, and nothing else does.
    bring: ({ topology }) =>
      statement(topology.ownerUrl, `REVOKE UPDATE ON tallies FROM ${SERVICE_ROLE}`),
    heal: ({ topology }) =>
      statement(topology.ownerUrl, `GRANT UPDATE ON tallies TO ${SERVICE_ROLE}`),
  },
  LoopHangs: {
    // Statements wait 65 s for their answers.
    shorter: ['> 1800', '> 20'],
    bring: ({ topology }) => topology.network.cut('fund-vip'),
    heal: ({ topology }) => topology.network.heal('fund-vip'),
  },
  ExecutorUnreachableFromWorker: { why: 'one proxy leads both workers to the venue' },
  ApiErrors: {
    bring: async ({ topology, signal }) => {
      await topology.network.cut('fund-vip');
      // In turns: the growth of a counter leaves out what it starts with.
      for (let turn = 0; turn < 10; turn += 1) {
        listUnwatched(topology, 20, signal);
        await sleep(3_000, undefined, { signal });
      }
    },
    heal: ({ topology }) => topology.network.heal('fund-vip'),
  },
  Overloaded: {
    bring: async ({ topology, signal }) => {
      await topology.network.slow('fund-vip', SLOW_MS);
      // Not waited for: the alert fires while the last ones still wait for their answers.
      listUnwatched(topology, AT_ONCE, signal);
    },
    heal: ({ topology }) => topology.network.slow('fund-vip', 0),
  },
  CertificateEnds: { why: 'a certificate ends after days, and the topology has none' },
  BuildStays: { why: 'it needs a second build of the service; `npm run chaos -- --rolling` is it' },
  Watchdog: { always: true },
  TemporalServerDown: {
    bring: ({ topology }) => topology.kill('temporal-worker'),
    heal: ({ topology }) => topology.restart('temporal-worker'),
  },
  TemporalPersistenceErrors: temporalDatabaseAway(),
  TemporalServiceErrors: temporalDatabaseAway(),
  TemporalTasksLate: pollersAwayUnderWay(),
  PollersGone: { bring: killWorkers, heal: startWorkers },
  TemporalAway: {
    bring: ({ topology }) => topology.network.pointTo('temporal-front', NO_LISTENER),
    heal: ({ topology }) =>
      topology.network.pointTo('temporal-front', topology.ports.temporalFrontend),
  },
  Nondeterminism: { why: 'it needs a build that breaks replay, which test/replay refuses' },
  MessageTooLarge: { why: 'the limits of the API keep messages far below those of Temporal' },
  WorkflowTasksLate: pollersAwayUnderWay(),
  VenueCallsLate: { why: 'no venue of the topology has a queue of its own' },
  RequestsThrottled: {
    bring: async ({ topology, mover }) => {
      appendFileSync(
        dynamicConfigFile(topology.dataDir),
        '\nfrontend.namespaceRPS:\n  - value: 2\nfrontend.namespaceBurstRatio:\n  - value: 1\n',
      );
      await restartFrontend({ topology });
      startUnwatched(mover, 30);
    },
    heal: async ({ topology }) => {
      copyFileSync(join(ROOT, DYNAMIC_CONFIG_FILE), dynamicConfigFile(topology.dataDir));
      await restartFrontend({ topology });
    },
  },
  SlotsUsedUp: { bring: hangCalls, heal: healVenue },
  ActivitySlotsGone: { bring: hangCalls, heal: healVenue },
};

/** A send arrives, and neither it nor any look at it is answered. */
async function sendIntoSilence({ topology, mover }: Scene): Promise<void> {
  const silent = { lose_answer_rate: 1, phases: ['submit', 'recover'] };
  await setFaults(topology.ports.venue, silent);
  await mover.start();
}

/** Each call of the venue takes a slot until the executor's time is over. */
async function hangCalls({ topology, mover }: Scene): Promise<void> {
  await setFaults(topology.ports.venue, { latency_ms: 60_000 });
  startUnwatched(mover, SENDS);
}

function healVenue({ topology }: Pick<Scene, 'topology'>): Promise<void> {
  return setFaults(topology.ports.venue, null);
}

/** Starts movements whose answers may come only after the healing. */
function startUnwatched(mover: Mover, count: number): void {
  for (let nr = 0; nr < count; nr += 1) void mover.start().catch(() => undefined);
}

/** Sends requests of which no answer is waited for. */
function listUnwatched(topology: Topology, count: number, signal: AbortSignal): void {
  const url = `${loopback(topology.ports.api1)}/v3/movements`;
  for (let nr = 0; nr < count; nr += 1)
    void signedFetch(topology.keys.admin, url, { signal }).then(
      (answer) => answer.body?.cancel(),
      () => undefined,
    );
}

/** Brings an amount into the wallet, which is empty at first. */
async function fillWallet(mover: Mover): Promise<void> {
  const id = await mover.start(GATED);
  const state = await mover.restOf(id, MOVEMENT_MS);
  if (state !== 'WAITING_MANUAL_ACTION') throw new Error(`${id} is ${state}`);
}

/** Sends on the chain, so that the signer has a nonce lane there. */
async function payFromWallet(mover: Mover): Promise<void> {
  await fillWallet(mover);
  const id = await mover.start(TRANSFER, { intent: { asset: 'USDC', amount: '5' } });
  const state = await mover.restOf(id, MOVEMENT_MS);
  if (state !== 'COMPLETED') throw new Error(`${id} is ${state}`);
}

async function killWorkers({ topology }: Pick<Scene, 'topology'>): Promise<void> {
  for (const name of WORKERS) await topology.kill(name);
}

async function startWorkers({ topology }: Pick<Scene, 'topology'>): Promise<void> {
  await Promise.all(WORKERS.map((name) => topology.restart(name)));
}

async function approveWithoutWorkers({ topology, mover }: Scene): Promise<void> {
  await killWorkers({ topology });
  await mover.start();
}

/** Temporal's database is down while movements are under way and others are approved. */
function temporalDatabaseAway(): AlertFault {
  return {
    bring: async ({ topology, mover }) => {
      await Promise.all(Array.from({ length: 10 }, () => mover.start()));
      await topology.kill(topology.serverOf('temporal', 'primary'));
      startUnwatched(mover, 10);
    },
    heal: ({ topology }) => topology.restart(topology.serverOf('temporal', 'primary')),
  };
}

/**
 * The workers lose Temporal while movements wait at the venue, so tasks that come due meanwhile are
 * late. The workers stay: a process that starts again would begin its histogram with them.
 */
function pollersAwayUnderWay(): AlertFault {
  return {
    bring: async ({ topology, mover, signal }) => {
      await setFaults(topology.ports.venue, { processing_ms: 20_000 });
      await Promise.all(Array.from({ length: 20 }, () => mover.start()));
      await sleep(3_000, undefined, { signal });
      await topology.network.pointTo('temporal-front', NO_LISTENER);
      await sleep(8_000, undefined, { signal });
      await topology.network.pointTo('temporal-front', topology.ports.temporalFrontend);
    },
    heal: healVenue,
  };
}

async function restartFrontend({ topology }: Pick<Scene, 'topology'>): Promise<void> {
  await topology.kill('temporal-frontend');
  await topology.restart('temporal-frontend');
}

/** Sets the faults of the venue or the chain at this port; null removes them. */
export async function setFaults(port: number, faults: object | null): Promise<void> {
  const answer = await fetch(`${loopback(port)}/faults`, {
    method: faults === null ? 'DELETE' : 'POST',
    ...(faults === null
      ? {}
      : { body: JSON.stringify(faults), headers: { 'content-type': 'application/json' } }),
  });
  if (answer.status !== 200) throw new Error(`faults were refused: ${await answer.text()}`);
}

/**
 * Sets what the signer has of the chain's own coin. It goes to the node itself: the chain's proxy
 * takes only raw transactions.
 */
async function setSignerBalance({ ports, chain }: Topology, wei: bigint): Promise<void> {
  const answer = await fetch(loopback(ports.chainNode), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'anvil_setBalance',
      params: [chain.accounts.signer.address, `0x${wei.toString(16)}`],
    }),
  });
  const text = await answer.text();
  if (answer.status !== 200 || text.includes('"error"'))
    throw new Error(`the chain's node refused a balance: ${text}`);
}

/** Opens an endpoint that takes every callback until this process ends; returns its URL. */
async function openReceiver(): Promise<string> {
  const server = createServer((_request, response) => response.end());
  server.unref();
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return `${loopback(port)}/callbacks`;
}

async function statement(url: string, text: string): Promise<void> {
  await query(url, text);
}
