/**
 * A stopping process: sends end, repeatable calls are left to others, and callers notice nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signatureHeaders } from '../../clients/http/index.ts';
import { openHeldRpc } from '../support/held-rpc.ts';
import { eventually, MovementApi, ownStack, type Created } from '../support/own-stack.ts';
import { fund } from '../support/paying-signer.ts';
import { noop, storeTemplate, transfer } from '../support/plans.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { deskEntry, deskNode, openSlowDesk } from '../support/slow-desk.ts';
import { started } from '../support/started.ts';

/** Longer than a worker once waited for what it did; the desk's own time-out is longer still. */
const SUBMIT_MS = 8_000;
const TIMEOUT_SECONDS = 40;
let template: string | undefined;
let amounts = 0;
const processes: ServiceProcess[] = [];

async function start(
  role: 'all' | 'api' | 'worker',
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const running = await startServiceProcess(own.stack, role, { settings });
  processes.push(running);
  return running;
}

const desk = started(() => openSlowDesk(SUBMIT_MS));
const own = ownStack({
  service: false,
  executors: () => [deskEntry(desk.url, TIMEOUT_SECONDS)],
});
afterEach(async () => {
  for (const each of processes.splice(0)) {
    each.signal('SIGKILL');
    await each.ended;
  }
  desk.takes.observe = 0;
});

const apiOf = (running: ServiceProcess) => new MovementApi(running.apiUrl, own.stack.keys.admin);

async function create(api: MovementApi): Promise<Created> {
  template ??= await storeTemplate(api, [deskNode()], { assurance: 'provider_completed' });
  amounts += 1;
  return api.create(template, { amount: `5.${String(amounts).padStart(3, '0')}1` });
}

/** Waits until the desk works on it. */
async function beingPaid({ movement_id }: Created): Promise<void> {
  await eventually(
    async () => (desk.payments.some((each) => each.movement_id === movement_id) ? true : null),
    { what: () => 'a request to the desk' },
  );
}

const paid = ({ movement_id }: Created) =>
  desk.payments.filter((each) => each.movement_id === movement_id);

/** How the node stands in the database, whoever runs. */
async function node({ movement_id }: Created) {
  const [row] = await own.query<{ state: string; attempt: number; error_count: number }>(
    'SELECT state, attempt, error_count FROM movement_nodes WHERE movement_id = $1',
    [movement_id],
  );
  return row;
}

/** Signed GET over a connection that the caller means to keep. */
async function get(running: ServiceProcess, path: string, agent: Agent): Promise<IncomingMessage> {
  const url = `${running.apiUrl}/v3${path}`;
  const headers = await signatureHeaders(own.stack.keys.admin, { method: 'GET', url });
  return new Promise((resolve, reject) => {
    httpRequest(url, { agent, headers }, (answer) => {
      answer.resume().once('end', () => resolve(answer));
    })
      .once('error', reject)
      .end();
  });
}

const drained = (running: ServiceProcess) =>
  eventually(
    async () => {
      const said = await running.readiness();
      return said?.status === 'draining' && said.httpStatus === 503 ? true : null;
    },
    { everyMs: 20, what: () => 'readiness to say draining' },
  );

test('a submit under way ends first, and the process then ends with status 0', async () => {
  const all = await start('all');
  const movement = await create(apiOf(all));
  await apiOf(all).approve(movement);
  await beingPaid(movement);
  await sleep(500);
  all.signal('SIGTERM');
  expect(await all.ended).toBe(0);
  expect(paid(movement)).toMatchObject([{ answered: true }]);
  expect(['SUBMITTED', 'OBSERVING', 'COMPLETED']).toContain((await node(movement))?.state);
}, 90_000);

test('a send whose last questions outlast the stop is left to the next worker', async () => {
  const { chain, env } = own.stack;
  await fund(chain, chain.accounts.signer.address);
  const rpc = await openHeldRpc(chain.rpcUrl);
  try {
    const venues = join(own.stack.dataDir, 'venues-over-a-slow-endpoint.json');
    const declared = readFileSync(env['SVC_VENUES_FILE'] ?? '', 'utf8');
    writeFileSync(venues, declared.replaceAll(chain.rpcUrl, rpc.url));
    // Nothing but the fence counts the account's transactions meanwhile.
    const settings = { SVC_VENUES_FILE: venues, SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '600' };
    const all = await start('all', settings);
    const plan = await storeTemplate(apiOf(all), [transfer(chain, 'pay')]);
    const movement = await apiOf(all).create(plan, { amount: '7' });
    rpc.hold('eth_getTransactionCount');
    await apiOf(all).approve(movement);
    await eventually(async () => (rpc.held() > 0 ? true : null), {
      what: () => 'the fence to ask',
    });
    all.signal('SIGTERM');
    await drained(all);
    rpc.hold(null);
    expect(await all.ended).toBe(0);
    expect(await node(movement)).toMatchObject({ state: 'READY', error_count: 0, attempt: 1 });
    expect(await own.query('SELECT FROM evm_transactions')).toEqual([]);
    const next = await start('all');
    await apiOf(next).reaches(movement.movement_id, 'COMPLETED');
    expect(await node(movement)).toMatchObject({ error_count: 0, attempt: 1 });
  } finally {
    await rpc.close();
  }
}, 90_000);

test('requests before and during the drain are answered, and readiness says draining first', async () => {
  const api = await start('api', { SVC_DRAIN_SECONDS: '3' });
  const movement = await create(apiOf(api));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect((await get(api, '/movements', agent)).headers.connection).toBe('keep-alive');
  // Holds the approval under way until the signal is long past.
  const held = own.query(
    `DO $$ BEGIN PERFORM 1 FROM movements WHERE movement_id = '${movement.movement_id}' FOR UPDATE; PERFORM pg_sleep(5); END $$`,
  );
  await sleep(300);
  const approval = apiOf(api).approve(movement);
  await sleep(300);
  api.signal('SIGTERM');
  await drained(api);
  const meanwhile = await get(api, '/movements', agent);
  expect([meanwhile.statusCode, meanwhile.headers.connection]).toEqual([200, 'close']);
  await expect(approval).resolves.toBeUndefined();
  await held;
  expect(await api.ended).toBe(0);
  agent.destroy();
}, 60_000);

test('an observer is left to the next worker at once, and nothing is counted against its node', async () => {
  const api = await start('api');
  const worker = await start('worker');
  desk.takes.submit = 100;
  desk.takes.observe = 60_000;
  const movement = await create(apiOf(api));
  await apiOf(api).approve(movement);
  const seen = desk.observed();
  await eventually(async () => (desk.observed() > seen ? true : null));
  await sleep(300);
  const signalled = Date.now();
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe(0);
  // Against the forty seconds after which the request itself gives up.
  expect(Date.now() - signalled).toBeLessThan(20_000);
  expect(await node(movement)).toMatchObject({ error_count: 0, attempt: 1 });
  desk.takes.observe = 0;
  await start('worker');
  await apiOf(api).reaches(movement.movement_id, 'COMPLETED');
}, 90_000);

test('a second signal ends it at once, and says what is left to recovery', async () => {
  const api = await start('api');
  const worker = await start('worker');
  desk.takes.submit = 25_000;
  const movement = await create(apiOf(api));
  await apiOf(api).approve(movement);
  await beingPaid(movement);
  worker.signal('SIGTERM');
  await drained(worker);
  await sleep(1_200);
  const signalled = Date.now();
  worker.signal('SIGTERM');
  expect(await worker.ended).toBe(3);
  expect(Date.now() - signalled).toBeLessThan(10_000);
  const left = worker.lines().find(({ left_to_recovery }) => left_to_recovery !== undefined);
  expect(left?.['left_to_recovery']).toEqual([`movement ${movement.movement_id} node pay: submit`]);
}, 60_000);

test('an API hands to Temporal what it has accepted before it ends', async () => {
  const api = await start('api');
  const template_key = await storeTemplate(apiOf(api), [noop('only')]);
  const made = await Promise.all(
    Array.from({ length: 120 }, (_, index) =>
      apiOf(api).create(template_key, { amount: `7.${String(index).padStart(3, '0')}1` }),
    ),
  );
  api.signal('SIGTERM');
  expect(await api.ended).toBe(0);
  // No worker runs, and so no relay.
  for (const { movement_id } of made) expect(await own.runOf(movement_id)).not.toBeNull();
}, 60_000);

test('one whose parent has gone ends without a drain', async () => {
  const api = await start('api', { SVC_DRAIN_SECONDS: '60' });
  const left = Date.now();
  api.abandon();
  expect(await api.ended).toBe(0);
  expect(Date.now() - left).toBeLessThan(30_000);
}, 60_000);
