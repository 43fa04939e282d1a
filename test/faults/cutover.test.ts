/**
 * The switch that stops new money: drained nothing new is taken, frozen nothing is sent, in every
 * process from the moment that the change is answered; what was sent is followed, and what waited
 * goes on by itself.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { accepted, passed } from '../../executor-kit/define.ts';
import { serveExecutor, type ServedExecutor } from '../../executor-kit/http.ts';
import { moreParts, type MoreParts } from '../support/more-parts.ts';
import { eventually, MovementApi, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { edge, gate, noop, storeTemplate } from '../support/plans.ts';
import { scriptedDesk } from '../support/scripted-desk.ts';

const desk = scriptedDesk();
let served: ServedExecutor;
let own: OwnStack;
let parts: MoreParts;
let elsewhere: MovementApi;
beforeAll(async () => {
  served = await serveExecutor(desk.executor, { port: 0, log: () => undefined });
  own = await startOwnStack({
    split: true,
    executors: () => [
      {
        executor_key: 'test.scripted',
        kind: 'remote',
        url: served.url,
        action_types: ['scripted'],
        timeout_seconds: 10,
        same_key_safe: true,
        payees: [],
      },
    ],
  });
  parts = moreParts(own.stack);
  elsewhere = new MovementApi(await parts.api('second-api'), own.stack.keys.admin);
}, 120_000);
afterAll(async () => {
  await parts?.stop();
  await own?.close();
  await served?.stop();
});
afterEach(() => switchTo('normal'));

interface Cutover {
  readonly mode: string;
  readonly previous_mode: string | null;
  readonly changed_at: string;
}
const switchTo = async (mode: string, api = own.api): Promise<Cutover> =>
  (await api.expect(200, 'POST', '/admin/cutover-mode', {
    mode,
    reason: 'a test',
  })) as unknown as Cutover;
const pay = {
  node_key: 'pay',
  node_kind: 'action',
  action_type: 'scripted',
  executor_selector: { action_type: 'scripted' },
  has_side_effect: true,
};
const plan = (more: object = {}): Promise<string> =>
  storeTemplate(own.api, [{ ...pay, ...more }], { assurance: 'provider_completed' });
const transfer = (idempotency_key: string): object => ({
  source_venue: 'paper-main',
  destination_venue: 'paper-sub-a',
  asset: 'USDT',
  amount: '10',
  reason: 'a test',
  idempotency_key,
});
const isShut = (mode: string): object => ({
  status: 409,
  body: { detail: { error: 'cutover_mode_active', mode } },
});
const body = (template_key: string, more: object = {}): object => ({
  template_key,
  template_version: 1,
  strategy_id: 'tests',
  ...more,
  intent: { asset: 'USDC', amount: '5' },
});
/** Fences of any movement or transfer between two changes of the switch. */
const fencesBetween = async (from: Cutover, to: Cutover): Promise<number> => {
  const rows = await own.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM timeline_events WHERE event_type = 'node_submitting'
         AND occurred_at > $1::timestamptz AND occurred_at < $2::timestamptz)::integer
       + (SELECT count(*) FROM capital_transfer_events WHERE to_state = 'SUBMITTING'
         AND occurred_at > $1::timestamptz AND occurred_at < $2::timestamptz)::integer AS count`,
    [from.changed_at, to.changed_at],
  );
  return rows[0]?.count ?? -1;
};

test('drained: nothing new is taken in any process, repeats are answered, what runs goes on', async () => {
  const template = await plan();
  const key = randomUUID();
  const first = await own.api.expect(
    201,
    'POST',
    '/movements',
    body(template, { idempotency_key: key }),
  );
  const moved = await own.api.expect(201, 'POST', '/capital-transfers', transfer(key));
  const gated = await storeTemplate(own.api, [gate('ask'), noop('then')], {
    edges: [edge('ask', 'then')],
    assurance: 'provider_completed',
  });
  const running = await own.api.create(gated, { amount: '5' });
  await own.api.approve(running);
  await own.api.reaches(running.movement_id, 'WAITING_MANUAL_ACTION');

  expect(await switchTo('drain')).toMatchObject({ mode: 'drain', previous_mode: 'normal' });
  for (const api of [own.api, elsewhere]) {
    expect(await api.send('POST', '/movements', body(template))).toMatchObject(isShut('drain'));
    expect(await api.send('POST', '/capital-transfers', transfer(randomUUID()))).toMatchObject(
      isShut('drain'),
    );
    const again = await api.send('POST', '/movements', body(template, { idempotency_key: key }));
    expect(again).toMatchObject({ status: 200, body: { movement_id: first['movement_id'] } });
    const moved_again = await api.send('POST', '/capital-transfers', transfer(key));
    expect(moved_again).toMatchObject({ status: 200, body: { transfer_id: moved['transfer_id'] } });
  }
  const dry = await own.api.send('POST', '/movements', body(template), { 'dry-run': 'true' });
  expect(dry).toMatchObject({
    status: 200,
    body: { would_create: false, blocking_reasons: [{ error: 'cutover_mode_active' }] },
  });
  await own.api.act('resume', running.movement_id);
  await own.api.reaches(running.movement_id, 'COMPLETED');
  // One that waited for its approval may still get it: it was there before.
  await own.api.approve(first as never);
  await own.api.reaches(String(first['movement_id']), 'COMPLETED');
}, 120_000);

test('who may switch it, and what is on record', async () => {
  const operator = new MovementApi(own.stack.apiUrl, own.stack.keys.operator);
  expect(
    (await operator.send('POST', '/admin/cutover-mode', { mode: 'drain', reason: 'x' })).status,
  ).toBe(403);
  for (const wrong of [
    { mode: 'drain' },
    { mode: 'closed', reason: 'x' },
    { mode: 'drain', reason: '' },
  ])
    expect((await own.api.send('POST', '/admin/cutover-mode', wrong)).status).toBe(422);
  await switchTo('frozen', elsewhere);
  const read = await operator.expect(200, 'GET', '/admin/cutover-mode');
  expect(read).toMatchObject({
    mode: 'frozen',
    previous_mode: 'normal',
    reason: 'a test',
    changed_by: { role: 'admin' },
  });
  const audit = await own.api.expect(200, 'GET', '/registry/audit?entity_type=cutover_mode');
  expect(audit).toMatchObject({
    events: expect.arrayContaining([
      expect.objectContaining({
        action: 'cutover.set_mode',
        details: { mode: 'frozen', previous_mode: 'normal' },
      }),
    ]),
  });
});

test('frozen: what was sent is followed, what was not waits outside of its time and goes on', async () => {
  let answer: (() => void) | undefined;
  const [slow, quick] = [await plan(), await plan({ timeout_policy: { execution_seconds: 2 } })];
  const sent = await own.api.create(slow, { amount: '5' });
  desk.say(sent.movement_id, {
    submit: () => new Promise((resolve) => (answer = () => resolve(accepted('in time')))) as never,
  });
  await own.api.approve(sent);
  await own.api.nodeReaches(sent.movement_id, 'pay', ['SUBMITTING']);
  const waiting = await own.api.create(quick, { amount: '5' });

  const frozen = await switchTo('frozen');
  expect(await own.api.send('POST', '/movements', body(quick))).toMatchObject(isShut('frozen'));
  await own.api.approve(waiting);
  answer?.();
  await own.api.reaches(sent.movement_id, 'COMPLETED');
  await sleep(4_000);
  const { nodes } = await own.api.movement(waiting.movement_id);
  expect(nodes.map(({ state }) => state)).toEqual(['READY']);
  expect(desk.calls(waiting.movement_id, 'submit')).toEqual([]);

  const released = await switchTo('drain');
  await own.api.reaches(waiting.movement_id, 'COMPLETED');
  expect(desk.calls(waiting.movement_id, 'submit')).toHaveLength(1);
  expect(await fencesBetween(frozen, released)).toBe(0);
}, 90_000);

test('a freeze is answered behind the fence that was being passed', async () => {
  const holder = new pg.Client({ connectionString: own.stack.databaseUrl });
  await holder.connect();
  try {
    const movement = await own.api.create(await plan(), { amount: '5' });
    let pass: (() => void) | undefined;
    desk.say(movement.movement_id, {
      preflight: () => new Promise((resolve) => (pass = () => resolve(passed()))) as never,
    });
    await own.api.approve(movement);
    await eventually(async () => (pass === undefined ? null : true), { what: () => 'preflight' });
    // A fence reads its executor last, and stands there.
    await holder.query('BEGIN');
    await holder.query("SELECT FROM executors WHERE executor_key = 'test.scripted' FOR UPDATE");
    pass?.();
    await eventually(
      async () => {
        const [fence] = await own.query(
          `SELECT FROM pg_locks a JOIN pg_locks w ON w.pid = a.pid AND NOT w.granted
           WHERE a.locktype = 'advisory' AND a.mode = 'ShareLock' AND a.granted`,
        );
        return fence === undefined ? null : true;
      },
      { what: () => 'a fence that waits', timeoutMs: 10_000 },
    );
    const freezing = switchTo('frozen');
    await sleep(500);
    await holder.query('COMMIT');
    const frozen = await freezing;
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    expect(await fencesBetween(frozen, await switchTo('normal'))).toBe(0);
  } finally {
    await holder.end();
  }
});

test('frozen under load, again and again: no send begins while it is, and all end', async () => {
  const template = await plan();
  const movements = await Promise.all(
    Array.from({ length: 60 }, () => own.api.create(template, { amount: '1' })),
  );
  let approving = Promise.resolve();
  const frozen: [Cutover, Cutover][] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const some = movements.slice(turn * 10, turn * 10 + 10);
    approving = Promise.all([approving, ...some.map((each) => own.api.approve(each))]).then(
      () => undefined,
    );
    await sleep(150);
    const from = await switchTo('frozen', turn % 2 === 0 ? own.api : elsewhere);
    await sleep(600);
    frozen.push([from, await switchTo('normal')]);
  }
  await approving;
  for (const { movement_id } of movements) await own.api.reaches(movement_id, 'COMPLETED');
  for (const [from, to] of frozen) expect(await fencesBetween(from, to)).toBe(0);
  for (const { movement_id } of movements)
    expect(desk.calls(movement_id, 'submit')).toHaveLength(1);
}, 120_000);

test('a frozen capital transfer waits and is made once', async () => {
  await own.stack.kill('worker');
  const made = await own.api.expect(201, 'POST', '/capital-transfers', transfer(randomUUID()));
  const frozen = await switchTo('frozen');
  await own.stack.startChild('worker');
  await sleep(3_000);
  const path = `/capital-transfers/${String(made['transfer_id'])}`;
  expect(await own.api.expect(200, 'GET', path)).toMatchObject({ request_state: 'CREATED' });
  const released = await switchTo('normal');
  await eventually(
    async () =>
      (await own.api.expect(200, 'GET', path))['request_state'] === 'COMPLETED' ? true : null,
    { what: () => 'the transfer to complete' },
  );
  expect(await fencesBetween(frozen, released)).toBe(0);
}, 90_000);

test('after a restore a look at a transfer comes first even where the restored switch is frozen', async () => {
  await own.stack.kill('worker');
  const made = await own.api.expect(201, 'POST', '/capital-transfers', transfer(randomUUID()));
  await switchTo('frozen');
  const id = String(made['transfer_id']);
  await own.query('SELECT after_restore($1::jsonb)', [
    JSON.stringify({ incident: randomUUID(), send_seconds: 1, audit: [] }),
  ]);
  const [marked] = await own.query(
    `SELECT request_state, submit_epoch >= 1000 AS taken_over FROM capital_transfers
     WHERE transfer_id = $1`,
    [id],
  );
  expect(marked).toEqual({ request_state: 'SUBMITTING', taken_over: true });
  await own.stack.startChild('worker');
  await switchTo('normal');
  await eventually(
    async () => {
      const { request_state } = await own.api.expect(200, 'GET', `/capital-transfers/${id}`);
      return request_state === 'COMPLETED' ? true : null;
    },
    { what: () => 'the transfer to complete', timeoutMs: 60_000 },
  );
}, 120_000);
