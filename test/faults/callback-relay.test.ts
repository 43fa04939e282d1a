/**
 * The callback relay on a real database and a real receiver: order, retries, dead letters, leases.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { pino } from 'pino';
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import { startCallbackRelay } from '../../activities/relays/callbacks.ts';
import { createApi } from '../../api/app.ts';
import { routes } from '../../venues/routes.ts';
import { listen, type Listening } from '../../api/http/server.ts';
import { settle } from '../../domain/callbacks/settlement.ts';
import { CALLBACK_EVENTS, type CallbackEvent } from '../../domain/events.ts';
import { createNoopExecutor } from '../../executors/local/noop.ts';
import { createCallbackSigner } from '../../platform/callback-signature.ts';
import type { Loop } from '../../platform/loop.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { attention, submitting, takenOver } from '../../domain/capital-transfers/step.ts';
import { applyTransferStep } from '../../store/capital-transfer-steps.ts';
import { readTransferEvents } from '../../store/capital-transfers.ts';
import { transferDesk } from '../store/capital-transfer-desk.ts';
import type { StoreBench } from '../store/support.ts';
import { claimCallbacks, listCallbacks, settleCallback } from '../../store/callbacks.ts';
import { applyTransition } from '../../store/transition.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import {
  CALLBACK_SECRET,
  startReceiver,
  type FaultyReceiver,
} from '../support/callback-receiver.ts';
import { assertConsistent } from '../support/evidence.ts';
import { startOwnDatabase } from '../support/own-database.ts';
import { eventually, MovementApi } from '../support/own-stack.ts';

jest.setTimeout(90_000);
const log = pino({ level: 'silent' });
const HOST = '127.0.0.1';
const PAGE = { limit: 200, after: null };

let database: Awaited<ReturnType<typeof startOwnDatabase>>;
/** Connected as a process with 127.0.0.1 on its list, with another list, and with none to tell. */
let db: Database;
let elsewhere: Database;
let untold: Database;
let server: Listening;
let api: MovementApi;
let target: FaultyReceiver;
const relays: Pick<Loop, 'stop'>[] = [];

const connectedWith = (hosts: string): Database =>
  connectDatabase({
    url: database.url,
    poolSize: 4,
    sessionSettings: { 'svc.callback_allowed_hosts': hosts },
  });

beforeAll(async () => {
  database = await startOwnDatabase();
  db = connectedWith(`hooks.example,${HOST}`);
  elsewhere = connectedWith('hooks.example');
  untold = connectDatabase({ url: database.url, poolSize: 1 });
  const settings = {
    apiPrefix: '/v3',
    approvalTtlSeconds: 600,
    authEnabled: false,
    balanceStaleSeconds: 300,
    bridgeSnapshotMaxAgeSeconds: 3_600,
    edition: 'commercial' as const,
    temporalNamespace: 'default',
    temporalUiUrl: 'http://x',
  };
  const noop = { ...createNoopExecutor().descriptor, executor_key: 'noop', action_types: ['noop'] };
  const app = createApi(
    {
      db,
      log,
      executors: { list: () => [noop] },
      balances: NO_BALANCES,
      chains: NO_CHAINS,
      signers: { list: () => [], get: () => undefined },
      handOver: () => undefined,
      settings,
    },
    routes,
  );
  server = await listen({ app, host: HOST, port: 0, graceMs: 500 });
  api = new MovementApi(`http://${HOST}:${server.port}`);
  await api.expect(201, 'POST', '/plan-templates', {
    template_key: 'one',
    version: 1,
    name: 'one',
    nodes: [{ node_key: 'do', node_kind: 'action', action_type: 'noop' }],
    edges: [],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
});
afterAll(async () => {
  await server?.close();
  await Promise.all([db, elsewhere, untold].map((each) => each?.$disconnect()));
  await database?.close();
});
beforeEach(async () => {
  target = await startReceiver();
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
  target.close();
  // Nothing of one test is due in the next.
  await db.callback.updateMany({
    where: { status: 'pending' },
    data: { next_attempt_at: new Date('2100-01-01') },
  });
});

function startRelay(
  options: { readonly maxAttempts?: number; readonly hosts?: readonly string[] } = {},
): Loop {
  const { maxAttempts = 20, hosts = [HOST] } = options;
  const relay = startCallbackRelay({
    db,
    log,
    allowedHosts: new Set(hosts),
    sign: createCallbackSigner(CALLBACK_SECRET),
    maxAttempts,
    pauseMs: 20,
  });
  relays.push(relay);
  return relay;
}

async function movement(url = target.url): Promise<string> {
  const body = {
    template_key: 'one',
    template_version: 1,
    intent: { asset: 'USDC', amount: '1' },
    callback_url: url,
  };
  return String((await api.expect(201, 'POST', '/movements', body))['movement_id']);
}

/** Writes an event of a movement as every transition does, with its callback. */
async function emit(
  movementId: string,
  event_type: CallbackEvent = 'frontier_advanced',
  through: Database = db,
): Promise<void> {
  const timeline = [{ event_type, message: 'x', actor: { type: 'system' } as const }];
  expect(await applyTransition(through, { movement_id: movementId, timeline })).toMatchObject({
    ok: true,
  });
}

const rows = async (movementId: string) =>
  [...(await listCallbacks(db, { movement_id: movementId }, PAGE))].reverse();
const statuses = async (movementId: string) => (await rows(movementId)).map(({ status }) => status);

async function storyOf(movementId: string): Promise<string[]> {
  const timeline = await api.timeline(movementId);
  assertConsistent(await api.movement(movementId), timeline);
  return timeline.map(({ event_type }) => event_type);
}

/** What waits for its next attempt is due at once. */
async function hurry(): Promise<void> {
  await db.sql`UPDATE callbacks SET next_attempt_at = svc_now() WHERE status = 'pending'
    AND next_attempt_at < svc_now() + interval '1 day'`;
}

async function becomes(
  movementId: string,
  status: string,
  options: { readonly hurried?: boolean } = {},
): Promise<void> {
  let last = '';
  await eventually(
    async () => {
      if (options.hurried === true) await hurry();
      last = (await statuses(movementId)).join();
      return last.split(',').every((each) => each === status) ? true : null;
    },
    { timeoutMs: 40_000, what: () => `${status}: ${last}` },
  );
}

test('two relays send each event once, in the order of its movement, several movements at once', async () => {
  const movements = await Promise.all([1, 2, 3, 4].map(() => movement()));
  for (const id of movements) for (const type of CALLBACK_EVENTS) await emit(id, type);
  target.delayMs = 20;
  startRelay();
  startRelay();
  for (const id of movements) await becomes(id, 'delivered');
  for (const id of movements) {
    const arrived = target.receiver.arrived.filter((event) => event.movement_id === id);
    expect(arrived.map(({ event_type }) => event_type)).toEqual(CALLBACK_EVENTS);
    expect(arrived).toEqual(target.receiver.eventsOf(id));
    expect((await rows(id)).map(({ attempts, last_error }) => [attempts, last_error])).toEqual(
      CALLBACK_EVENTS.map(() => [1, null]),
    );
    expect((await storyOf(id)).filter((type) => type === 'callback_delivered')).toHaveLength(
      CALLBACK_EVENTS.length,
    );
  }
  expect(target.attempts).toHaveLength(movements.length * CALLBACK_EVENTS.length);
  expect(target.receiver.refused).toEqual({ forged: 0, repeated: 0 });
  expect(target.most.open).toBeGreaterThan(1);
  expect(target.most.open).toBeLessThanOrEqual(movements.length);
});

test('a capital transfer that comes to need a person is called back, and beside it nothing else', async () => {
  const desk = transferDesk({ db } as StoreBench, {});
  const id = await desk.made({ callback_url: target.url });
  await applyTransferStep(db, submitting(await desk.row(id), 5, 900));
  await applyTransferStep(db, takenOver(await desk.row(id), 900, { isOver: true }));
  const other = await movement();
  await emit(other);
  startRelay();
  await becomes(other, 'delivered');
  expect(await listCallbacks(db, { transfer_id: id }, PAGE)).toEqual([]);
  await applyTransferStep(db, attention(await desk.row(id), 'It took too long'));
  const delivered = await eventually(
    async () => {
      const [row] = await listCallbacks(db, { transfer_id: id }, PAGE);
      return row?.status === 'delivered' ? row : null;
    },
    { what: () => 'its callback' },
  );
  const [event] = (await readTransferEvents(db, id)).slice(-1);
  expect(target.receiver.arrived.at(-1)).toEqual({
    ...{ event_id: event?.event_id, event_type: 'request_attention', movement_id: null },
    ...{ transfer_id: id, request_state: 'MANUAL_INTERVENTION', current_frontier: [] },
    ...{ node_key: null, error_code: 'PROVIDER_CONFIRMATION_TIMEOUT' },
    ...{ sequence: event?.sequence, occurred_at: event?.occurred_at },
  });
  expect(delivered.payload).toEqual(target.receiver.arrived.at(-1));
  expect(target.attempts).toHaveLength(2);
});

test('a receiver that fails half of its calls still gets every event, with the payload and nonce it always had', async () => {
  const id = await movement();
  for (const type of CALLBACK_EVENTS) await emit(id, type);
  const before = await rows(id);
  target.fault = (_attempt, index) => (index % 2 === 0 ? 503 : null);
  startRelay();
  await becomes(id, 'delivered', { hurried: true });
  expect(target.receiver.eventsOf(id).map(({ event_type }) => event_type)).toEqual(CALLBACK_EVENTS);
  expect(target.receiver.refused).toEqual({ forged: 0, repeated: 0 });
  expect(target.attempts.length).toBeGreaterThanOrEqual(2 * CALLBACK_EVENTS.length - 1);
  for (const { event_id, nonce } of before) {
    const sent = target.attempts.filter((attempt) => attempt.event_id === event_id);
    expect(
      new Set(sent.flatMap(({ headers }) => [headers['webhook-id'], headers['x-svc-nonce']])),
    ).toEqual(new Set([nonce]));
  }
  expect((await rows(id)).map(({ payload, nonce }) => ({ payload, nonce }))).toEqual(
    before.map(({ payload, nonce }) => ({ payload, nonce })),
  );
});

test('one that waits for its retry lets the later ones pass, and is signed anew when its time comes', async () => {
  const id = await movement();
  for (const type of ['request_approved', 'frontier_advanced', 'request_completed'] as const)
    await emit(id, type);
  target.fault = (_attempt, index) => (index === 0 ? 500 : null);
  startRelay();
  await eventually(async () => (target.receiver.arrived.length === 2 ? true : null));
  const [first] = await rows(id);
  expect(first).toMatchObject({ status: 'pending', attempts: 1, last_error: 'http_500' });
  expect(Date.parse(String(first?.next_attempt_at)) - Date.parse(String(first?.updated_at))).toBe(
    2_000,
  );
  await becomes(id, 'delivered');
  expect(target.receiver.arrived.map(({ event_type }) => event_type)).toEqual([
    'frontier_advanced',
    'request_completed',
    'request_approved',
  ]);
  expect(target.receiver.eventsOf(id).map(({ event_type }) => event_type)).toEqual([
    'request_approved',
    'frontier_advanced',
    'request_completed',
  ]);
  const [early, late] = target.attempts
    .filter(({ event_id }) => event_id === first?.event_id)
    .map(({ headers }) => headers);
  expect(Number(late?.['webhook-timestamp'])).toBeGreaterThan(Number(early?.['webhook-timestamp']));
  expect(late?.['x-svc-signature']).not.toBe(early?.['x-svc-signature']);
});

test('after the last allowed failure it is a dead letter, and redelivered it arrives as it was written', async () => {
  const id = await movement();
  await emit(id, 'request_approved');
  const [written] = await rows(id);
  target.fault = () => 302;
  startRelay({ maxAttempts: 2 });
  await becomes(id, 'dead_letter', { hurried: true });
  expect(await rows(id)).toMatchObject([
    { attempts: 2, last_error: 'http_302', next_attempt_at: null },
  ]);
  expect(await storyOf(id)).toEqual([
    'movement_created',
    'request_approved',
    'callback_dead_lettered',
  ]);
  target.fault = () => null;
  const answer = await api.expect(200, 'POST', `/callbacks/${written?.event_id}/redeliver`);
  expect(answer).toMatchObject({
    status: 'pending',
    attempts: 0,
    last_error: null,
    payload: written?.payload,
    nonce: written?.nonce,
  });
  await becomes(id, 'delivered');
  expect(await rows(id)).toMatchObject([
    { attempts: 1, payload: written?.payload, nonce: written?.nonce },
  ]);
  expect(target.receiver.arrived).toEqual([written?.payload]);
  expect(await storyOf(id)).toEqual([
    'movement_created',
    'request_approved',
    'callback_dead_lettered',
    'callback_delivered',
  ]);
});

test('four redelivery requests at once cause one redelivery', async () => {
  const id = await movement();
  await emit(id, 'request_approved', elsewhere);
  const [dead] = await rows(id);
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => api.send('POST', `/callbacks/${dead?.event_id}/redeliver`)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
});

describe('a host that is not listed', () => {
  test('makes a dead letter when the event is written, before any relay looks', async () => {
    const id = await movement();
    await emit(id, 'request_approved', elsewhere);
    expect(await rows(id)).toMatchObject([
      { status: 'dead_letter', attempts: 0, last_error: 'host_not_allowed' },
    ]);
    expect(await storyOf(id)).toEqual([
      'movement_created',
      'request_approved',
      'callback_dead_lettered',
    ]);
    await emit(id, 'request_completed', connectedNowhere());
    expect(await statuses(id)).toEqual(['dead_letter', 'dead_letter']);
  });

  test('makes a dead letter when it is to be sent, without a request', async () => {
    const id = await movement();
    await emit(id, 'request_approved', untold);
    expect(await statuses(id)).toEqual(['pending']);
    startRelay({ hosts: ['hooks.example'] });
    await becomes(id, 'dead_letter');
    expect(await rows(id)).toMatchObject([{ attempts: 0, last_error: 'host_not_allowed' }]);
    expect(await storyOf(id)).toEqual([
      'movement_created',
      'request_approved',
      'callback_dead_lettered',
    ]);
    expect(target.attempts).toHaveLength(0);
  });

  test('is read from an address in the database as it is everywhere else', async () => {
    const addresses = [
      'https://Hooks.Example/a',
      'https://hooks.example:8443?x=https://evil.example/',
      'https://evil.example/hooks.example',
      'https://evil.example#@hooks.example/',
      'https://evil.example\\@hooks.example/',
      'https://hooks.example.evil.example/',
      'https://hooks.example./',
      'https://exämple.com',
      'http://0x7f000001:9/',
      'http://[0:0::1]:9/',
      'https:hooks.example',
    ].map((address) => new URL(address));
    for (const { href, hostname } of addresses) {
      const [read] = await db.sql<{ host: string; refused: boolean }>`
        SELECT callback_host(${href}) AS host, callback_refused(${href}) AS refused`;
      expect({ href, ...read }).toEqual({
        href,
        host: hostname,
        refused: !['hooks.example', HOST].includes(hostname),
      });
    }
    const odd = [
      'https://user@hooks.example/',
      'https://HOOKS.example/',
      'ftp://x.example/',
      'https://x.example\\y',
      '',
    ];
    for (const address of odd) {
      expect(
        await db.sql`SELECT callback_host(${address}) AS host,
          callback_refused(${address}) AS refused`,
      ).toEqual([{ host: null, refused: false }]);
    }
  });
});

test('a session gets its settings in addition to those of its address', async () => {
  const url = new URL(database.url);
  url.searchParams.set('options', '-c svc.clock_offset_ms=5000');
  const session = connectDatabase({
    url: url.href,
    poolSize: 1,
    sessionSettings: { 'svc.callback_allowed_hosts': '[::1],a.example', 'svc.odd': 'a b\\c' },
  });
  relays.push({ stop: () => session.$disconnect() });
  const read = await session.sql`SELECT current_setting('svc.clock_offset_ms') AS clock,
    current_setting('svc.callback_allowed_hosts') AS hosts, current_setting('svc.odd') AS odd`;
  expect(read).toEqual([{ clock: '5000', hosts: '[::1],a.example', odd: 'a b\\c' }]);
});

/** A process whose list is empty. */
function connectedNowhere(): Database {
  const nowhere = connectedWith('');
  relays.push({ stop: () => nowhere.$disconnect() });
  return nowhere;
}

describe('a lease', () => {
  test('of a process that died ends by itself, and the callback is sent again', async () => {
    const id = await movement();
    await emit(id, 'request_approved');
    await emit(id, 'request_completed');
    const dead = await claimCallbacks(db, { limit: 10, leaseSeconds: 2, movementId: id });
    expect(dead.map(({ event_type }) => event_type)).toEqual(['request_approved']);
    startRelay();
    await sleep(300);
    expect(target.attempts).toHaveLength(0);
    await becomes(id, 'delivered');
    expect(target.receiver.arrived.map(({ event_type }) => event_type)).toEqual([
      'request_approved',
      'request_completed',
    ]);
  });

  test('on one callback keeps every other of its movement back, even an earlier one whose retry has come', async () => {
    const id = await movement();
    await emit(id, 'request_approved');
    await emit(id, 'request_completed');
    const claim = () => claimCallbacks(db, { limit: 10, leaseSeconds: 60, movementId: id });
    const [first] = await claim();
    await settleCallback(db, settle(first!, { kind: 'failed', reason: 'timeout' }, 20));
    const [second] = await claim();
    await hurry();
    expect(await claim()).toEqual([]);
    await settleCallback(db, settle(second!, { kind: 'answered', status: 200 }, 20));
    expect((await claim()).map(({ event_id }) => event_id)).toEqual([first?.event_id]);
  });

  test('that ran out changes nothing of what the next one has settled', async () => {
    const id = await movement();
    await emit(id, 'request_approved');
    const [late] = await claimCallbacks(db, { limit: 1, leaseSeconds: 0, movementId: id });
    const [next] = await claimCallbacks(db, { limit: 1, leaseSeconds: 60, movementId: id });
    expect(next).toEqual(late);
    // Both fail: the attempt counts once. Then one succeeds, and nothing can undo that.
    expect(await settleCallback(db, settle(next!, { kind: 'failed', reason: 'timeout' }, 20))).toBe(
      true,
    );
    expect(await settleCallback(db, settle(late!, { kind: 'failed', reason: 'late' }, 20))).toBe(
      false,
    );
    expect(await rows(id)).toMatchObject([
      { status: 'pending', attempts: 1, last_error: 'timeout' },
    ]);
    expect(await settleCallback(db, settle(late!, { kind: 'answered', status: 204 }, 20))).toBe(
      true,
    );
    for (const outcome of [
      { kind: 'answered', status: 500 },
      { kind: 'answered', status: 200 },
      { kind: 'refused', reason: 'late' },
    ] as const)
      expect(await settleCallback(db, settle({ ...next!, attempts: 1 }, outcome, 1))).toBe(false);
    expect(await statuses(id)).toEqual(['delivered']);
    expect(await storyOf(id)).toEqual([
      'movement_created',
      'request_approved',
      'callback_delivered',
    ]);
  });
});

test('deliveries beside transitions leave no gap on the timeline, and version and time of the movement alone', async () => {
  const id = await movement();
  startRelay();
  // Two lines of events at once, so that a delivery is recorded while an event is written.
  await Promise.all(
    [0, 1].map(async () => {
      for (let round = 0; round < 15; round += 1) await emit(id);
    }),
  );
  const before = await db.movement.findUniqueOrThrow({ where: { movement_id: id } });
  await emit(id, 'request_completed', untold);
  const written = await db.movement.findUniqueOrThrow({ where: { movement_id: id } });
  await becomes(id, 'delivered');
  const after = await db.movement.findUniqueOrThrow({ where: { movement_id: id } });
  expect([after.version, after.updated_at, after.swept_at]).toEqual([
    before.version,
    written.updated_at,
    before.swept_at,
  ]);
  const story = await storyOf(id);
  expect(story.filter((type) => type === 'callback_delivered')).toHaveLength(31);
  // A record that failed would have been sent again.
  expect(target.receiver.refused).toEqual({ forged: 0, repeated: 0 });
  expect(after.next_sequence).toBe(story.length + 1);
});

test('a delivery that meets a transition waits for it and takes the next place on the timeline', async () => {
  const id = await movement();
  await emit(id, 'request_approved');
  const [claimed] = await claimCallbacks(db, { limit: 1, leaseSeconds: 60, movementId: id });
  const event = {
    event_id: randomUUID(),
    event_type: 'node_ready',
    message: 'x',
    actor: { type: 'system' },
  };
  const doc = JSON.stringify({ movement_id: id, timeline: [event] });
  let settled: Promise<boolean> | undefined;
  await elsewhere.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT apply_transition(${doc}::jsonb) IS NULL AS nothing`;
    settled = settleCallback(db, settle(claimed!, { kind: 'answered', status: 200 }, 20));
    settled.catch(() => undefined);
    await sleep(500);
  });
  expect(await settled).toBe(true);
  expect(await storyOf(id)).toEqual([
    'movement_created',
    'request_approved',
    'node_ready',
    'callback_delivered',
  ]);
});

test('without a secret nothing goes out', async () => {
  const id = await movement();
  await emit(id, 'request_approved');
  relays.push(
    startCallbackRelay({
      db,
      log,
      allowedHosts: new Set([HOST]),
      sign: null,
      maxAttempts: 20,
      pauseMs: 20,
    }),
  );
  await becomes(id, 'dead_letter');
  expect(target.attempts).toHaveLength(0);
});

test('a stop waits for the attempt that is under way, and leaves the rest of the line', async () => {
  const id = await movement();
  await emit(id, 'request_approved');
  await emit(id, 'request_completed');
  target.delayMs = 300;
  const relay = startRelay();
  await eventually(async () => (target.attempts.length === 1 ? true : null), { everyMs: 5 });
  await relay.stop();
  expect(await statuses(id)).toEqual(['delivered', 'pending']);
});
