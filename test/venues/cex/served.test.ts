/**
 * An exchange account whose keys are in another process: what it sends is the same, and is sent
 * once.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { transferEntries } from '../../../domain/capital-transfers/topology.ts';
import type { ExecutionContext, Executor } from '../../../domain/executor.ts';
import { serveRoutes } from '../../../executor-kit/http.ts';
import { createLocalRequestDesk } from '../../../platform/request-desk.ts';
import { createCexTransfers } from '../../../venues/cex/account-transfers.ts';
import { createCexAccounts } from '../../../venues/cex/accounts.ts';
import { DIALECTS } from '../../../venues/cex/dialects/index.ts';
import { readDeposits } from '../../../venues/cex/named-deposits.ts';
import { createSendGuard } from '../../../venues/cex/served/send-guard.ts';
import { servedRoutes } from '../../../venues/cex/served/server.ts';
import {
  executorIn,
  faultOf,
  order,
  startAparts,
  TOKEN,
  type ApartOptions,
} from './support/apart.ts';
import { call, configOf, contextOf, NO_JOURNAL, withdrawal } from './support/desk.ts';
import { binance } from './support/formats/binance.ts';
import { kraken } from './support/formats/kraken.ts';
import { okx } from './support/formats/okx.ts';
import { madeDeposit } from './support/made.ts';
import { recovered, runOnce } from './support/run.ts';

const EXCHANGES = [binance, okx, kraken].map((format) => [format.exchange, format] as const);
const aparts = startAparts([binance, okx, kraken]);
const apart = aparts.open;

async function submitOf(executor: Executor, node: ReturnType<typeof withdrawal>) {
  const { prepared_action = {} } = await executor.prepare(node, call());
  const input = { context: { ...node, prior: { prepared_action } }, prepared_action };
  return () => executor.submit({ ...input, journal: NO_JOURNAL }, call());
}

test.each(EXCHANGES)('the deposits of a transaction at %s are read through it', async (name) => {
  const world = await apart(name);
  const transaction = `0x${'c4'.repeat(32)}`;
  const network = world.desk.exchange.format.books.networks.open;
  for (const id of ['701', '702'])
    world.books.deposits.push(madeDeposit({ id, tx: transaction, amount: '5', network }));
  const now = Date.now();
  const of = { venue_key: 'cex-main', transaction, asset: 'USDC' };
  const period = { from: now - 86_400_000, to: now + 86_400_000 };
  const found = await readDeposits(world.accounts, { ...of, period }, call());
  expect(found).toEqual(await readDeposits(world.keyed, { ...of, period }, call()));
  expect(found.map(({ amount }) => amount)).toEqual(['5', '5']);
});

describe.each(EXCHANGES)('a withdrawal at %s from another process', (name) => {
  test('is checked, prepared, sent and seen through it, and the service opens no key', async () => {
    const world = await apart(name);
    const executor = world.executorOf('cex_withdrawal');
    const node = world.node();
    expect(await executor.preflight(node, call())).toBeNull();
    const { reported, context } = await runOnce(executor, node);
    const [paid] = world.books.withdrawals;
    expect([reported?.next_state, reported?.external_ref]).toEqual(['SUBMITTED', paid?.id]);
    expect(await executor.observe(context, call(), NO_JOURNAL)).toMatchObject({
      next_state: 'COMPLETED',
      output: { submitted_amount: '100.5', received_amount: '100.25' },
    });
    expect(world.books.withdrawals).toHaveLength(1);
    expect(await faultOf(world.accounts.get('cex-main').own())).toMatchObject({
      kind: 'rejected',
      code: 'KEYS_APART',
    });
    expect(world.lines.filter((line) => line.includes(node.idempotency_key))).toHaveLength(2);
  });

  test('prepares what a process with the keys prepares, so that keys may move', async () => {
    const world = await apart(name);
    const node = world.node();
    const there = await world.executorOf('cex_withdrawal').prepare(node, call());
    const here = await executorIn(world.keyed, 'cex_withdrawal').prepare(node, call());
    // A quote may hold its time.
    const quote = expect.any(Object);
    expect(there.prepared_action).toEqual({ ...here.prepared_action, quote });
    const { descriptor } = world.executorOf('cex_withdrawal');
    expect(descriptor).toEqual(executorIn(world.keyed, 'cex_withdrawal').descriptor);
  });

  test('is paid once and found when the answer of the exchange is lost', async () => {
    const world = await apart(name);
    const executor = world.executorOf('cex_withdrawal');
    world.desk.exchange.fail({
      path: world.paths.withdraw,
      method: 'POST',
      kind: 'done_then_hangup',
    });
    const { reported, context } = await runOnce(executor, world.node());
    expect(reported).toBeNull();
    expect(await recovered(executor, context)).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: world.books.withdrawals[0]?.id,
    });
    expect([world.sends(), world.books.withdrawals.length]).toEqual([1, 1]);
  });

  test('is paid once and found when the answer of the process is lost', async () => {
    const world = await apart(name);
    const executor = world.executorOf('cex_withdrawal');
    const node = world.node();
    const { prepared_action = {} } = await executor.prepare(node, call());
    const context = {
      ...node,
      prior: { prepared_action },
      ...(typeof prepared_action['send_lane'] === 'string'
        ? { send_lane: { since: new Date().toISOString(), references: [], unexplained: 0 } }
        : {}),
    };
    const gone = new AbortController();
    world.desk.exchange.afterNext(world.paths.withdraw, () => gone.abort());
    const input = { context, prepared_action, journal: NO_JOURNAL };
    expect((await faultOf(executor.submit(input, call(gone.signal)))).kind).toBe('timeout');
    expect((await recovered(executor, context)).external_ref).toBe(world.books.withdrawals[0]?.id);
    expect(world.books.withdrawals).toHaveLength(1);
  });

  test('that the exchange refuses has failed, with its reason', async () => {
    const world = await apart(name);
    const [code = '', ours] = Object.entries(DIALECTS.get(name)?.refusals ?? {})[0] ?? [];
    const submit = await submitOf(world.executorOf('cex_withdrawal'), world.node());
    const { withdraw: path } = world.paths;
    const refusal = world.desk.exchange.format.error(code);
    world.desk.exchange.fail({ ...refusal, path, method: 'POST', kind: 'refuse' });
    expect(await submit()).toMatchObject({ next_state: 'FAILED', error_code: ours });
    expect([world.sends(), world.books.withdrawals.length]).toEqual([1, 0]);
  });

  test('that the exchange does not answer is open', async () => {
    const world = await apart(name);
    const submit = await submitOf(world.executorOf('cex_withdrawal'), world.node());
    world.desk.exchange.fail({ path: world.paths.withdraw, method: 'POST', kind: 'error_500' });
    expect((await faultOf(submit())).kind).not.toBe('rejected');
    expect([world.sends(), world.books.withdrawals.length]).toEqual([1, 0]);
  });

  test('of another amount than the prepared one is not sent', async () => {
    const world = await apart(name);
    const executor = world.executorOf('cex_withdrawal');
    const node = world.node();
    const { prepared_action = {} } = await executor.prepare(node, call());
    const context = { ...node, amount: '200' };
    const input = { context, prepared_action, journal: NO_JOURNAL };
    expect(await faultOf(executor.submit(input, call()))).toMatchObject({
      kind: 'protocol',
      code: 'PREPARED_ACTION_MISMATCH',
    });
    expect(world.sends()).toBe(0);
  });

  test('is sent once when its request is delivered twice', async () => {
    const world = await apart(name);
    const submit = await submitOf(world.executorOf('cex_withdrawal'), world.node());
    expect((await submit()).next_state).toBe('SUBMITTED');
    expect(await faultOf(submit())).toMatchObject({ kind: 'protocol', code: 'SEND_REPEATED' });
    expect([world.sends(), world.books.withdrawals.length]).toEqual([1, 1]);
  });

  test('needs the token, and a wrong one proves nothing', async () => {
    const world = await apart(name, { token: 'another-token' });
    const executor = world.executorOf('cex_withdrawal');
    const node = world.node();
    const input = { context: node, prepared_action: {}, journal: NO_JOURNAL };
    for (const work of [executor.preflight(node, call()), executor.submit(input, call())])
      expect((await faultOf(work)).kind).toBe('unreachable');
    expect((await executor.health(call())).state).toBe('down');
    expect(world.desk.exchange.requests).toEqual([]);
  });

  test('of an account that the process has under another name is refused', async () => {
    const world = await apart(name, { changes: { account_role: 'master', account: 'elsewhere' } });
    const executor = world.executorOf('cex_withdrawal');
    expect(await faultOf(executor.preflight(world.node(), call()))).toMatchObject({
      kind: 'rejected',
      code: 'VENUE_MISMATCH',
    });
    expect(world.desk.exchange.requests).toEqual([]);
  });

  test('that was prepared for an account of another name is not sent', async () => {
    const world = await apart(name, { changes: { account_role: 'master', account: 'elsewhere' } });
    const node = world.node();
    const keyed = executorIn(world.keyed, 'cex_withdrawal');
    const { prepared_action = {} } = await keyed.prepare(node, call());
    const context = { ...node, prior: { prepared_action } };
    const input = { context, prepared_action, journal: NO_JOURNAL };
    const submitted = world.executorOf('cex_withdrawal').submit(input, call());
    expect(await faultOf(submitted)).toMatchObject({ kind: 'rejected', code: 'VENUE_MISMATCH' });
    expect([world.sends(), world.books.withdrawals.length]).toEqual([0, 0]);
  });
});

/** What a process may be like while the service's file names another account than before. */
const PROCESSES: readonly (readonly [string, ApartOptions])[] = [
  ['is silent', { token: 'another-token' }],
  ['has the account of before', { changes: { account: 'elsewhere' } }],
];

const CHANGED = { kind: 'not_yet', code: 'VENUE_ENTRY_CHANGED' };

/** Each look at the node ends with this fault. */
async function expectEach(executor: Executor, context: ExecutionContext, fault: object) {
  for (const look of [
    () => executor.observe(context, call(), NO_JOURNAL),
    () => executor.recover(context, call(), NO_JOURNAL),
    () => executor.cancel(context, call()),
  ])
    expect(await faultOf(look())).toMatchObject(fault);
}

describe.each(PROCESSES)('of an account of before, while the process %s,', (_, options) => {
  test.each(EXCHANGES)('no withdrawal at %s is looked for', async (name) => {
    const world = await apart(name, options);
    const before = world.desk.accounts({ exclusive: true, account: 'elsewhere' });
    const node = world.node();
    const { prepared_action = {} } = await executorIn(before, 'cex_withdrawal').prepare(
      node,
      call(),
    );
    const context = { ...node, prior: { prepared_action } };
    await expectEach(world.executorOf('cex_withdrawal'), context, CHANGED);
  });

  test('no transfer within the exchange is looked for', async () => {
    const world = await apart('binance', options);
    const before = world.desk.accounts({ exclusive: true, account: 'elsewhere' });
    const ends = { venue: 'cex-main', destination_venue: 'cex-sub' };
    const node = contextOf('cex_internal_transfer', ends);
    const executor = executorIn(before, 'cex_internal_transfer');
    const { prepared_action = {} } = await executor.prepare(node, call());
    const context = { ...node, prior: { prepared_action } };
    await expectEach(world.executorOf('cex_internal_transfer'), context, CHANGED);
  });
});

describe('while only the file of the process means another account than before,', () => {
  const MISMATCH = { kind: 'rejected', code: 'VENUE_MISMATCH' };

  test.each(EXCHANGES)('no look for a withdrawal at %s can see it', async (name) => {
    const world = await apart(name, { changes: { account: 'elsewhere' } });
    const before = executorIn(world.desk.accounts({ exclusive: true }), 'cex_withdrawal');
    const node = world.node();
    const { prepared_action = {} } = await before.prepare(node, call());
    const context = { ...node, prior: { prepared_action } };
    await expectEach(world.executorOf('cex_withdrawal'), context, CHANGED);
    // What an earlier release prepared has no account.
    const { venue_entries: _none, ...earlier } = prepared_action;
    const unbound = { ...node, prior: { prepared_action: earlier } };
    await expectEach(world.executorOf('cex_withdrawal'), unbound, MISMATCH);
  });

  test('no look for a capital transfer can see it', async () => {
    const world = await apart('binance', { subChanges: { account: 'sub-b@example.com' } });
    const [provider] = createCexTransfers(world.accounts);
    const [main, sub] = provider!.accounts;
    const venue_entries = transferEntries(main!, sub!) ?? '';
    const placed = order({ venue_entries });
    expect(await faultOf(Promise.resolve(provider!.find(placed, call())))).toMatchObject({
      ...CHANGED,
      message: expect.stringContaining(`made under [${venue_entries}]`),
    });
    expect(await faultOf(Promise.resolve(provider!.find(order(), call())))).toMatchObject(MISMATCH);
  });
});

test('the process refuses an account that it does not serve', async () => {
  const world = await apart('binance');
  const { served } = world.accounts.get('cex-main');
  const [venue] = world.desk.bindings({ venue_key: 'other' }, { master: 'other' });
  if (served === null || venue === undefined) throw new Error('nothing is served');
  const executor = served.executor(world.executorOf('cex_withdrawal').descriptor);
  const node = withdrawal({ ...configOf(binance), venue: 'other' });
  const work = executor.preflight(node, served.callOf([{ venue, master: venue }], call(), 5));
  expect(await faultOf(work)).toMatchObject({ kind: 'rejected', code: 'VENUE_NOT_BOUND' });
});

describe('a call of a send', () => {
  const { master } = binance.books;
  /** The account with its own master, as both venues files must have it. */
  const NAMED = [
    ...['cex-main', 'binance', 'real', 'master', master],
    ...['cex-main', master, 'exclusive', 'whitelist'],
  ]
    .map(encodeURIComponent)
    .join(':');
  const post = (url: string, headers: Readonly<Record<string, string>>, body: unknown) =>
    fetch(`${url}/executors/ccxt.withdrawal/submit`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${TOKEN}`,
        'x-exchange-accounts': NAMED,
        ...headers,
      },
    });

  test('that arrives after its time, or without one, sends nothing', async () => {
    const world = await apart('binance');
    const node = world.node();
    const { prepared_action } = await world.executorOf('cex_withdrawal').prepare(node, call());
    const body = { context: node, prepared_action };
    const late = { 'x-not-after': new Date(Date.now() - 1).toISOString() };
    expect((await post(world.url, late, body)).status).toBe(503);
    expect((await post(world.url, {}, body)).status).toBe(400);
    expect(world.sends()).toBe(0);
    // Otherwise the same request is sent.
    const inTime = { 'x-not-after': new Date(Date.now() + 60_000).toISOString() };
    expect((await post(world.url, inTime, body)).status).toBe(200);
    expect(world.sends()).toBe(1);
  });

  test('that waits for its budget beyond its time sends nothing, with its caller still there', async () => {
    const world = await apart('binance');
    const node = world.node();
    const { prepared_action } = await world.executorOf('cex_withdrawal').prepare(node, call());
    const budget = createLocalRequestDesk();
    const { api_key } = world.desk.exchange.key(null);
    await budget.stop(createHash('sha256').update(api_key).digest('hex'), 1_500);
    const keyed = createCexAccounts(world.desk.bindings({ exclusive: true }), budget);
    const routes = servedRoutes(keyed, () => undefined);
    const served = await serveRoutes(routes, {
      port: 0,
      authTokenFile: join(world.desk.folder, 'process.token'),
      graceMs: 100,
    });
    aparts.onClose(() => served.stop());
    const soon = { 'x-not-after': new Date(Date.now() + 400).toISOString() };
    const answer = await post(served.url, soon, { context: node, prepared_action });
    expect(await answer.json()).toMatchObject({ next_state: 'FAILED', error_code: 'CEX_ABORTED' });
    // By then the budget would permit it.
    await sleep(1_600);
    expect([world.sends(), world.books.withdrawals.length]).toEqual([0, 0]);
  });

  test('is remembered for as long as its caller may wait', () => {
    let now = 1_000;
    const guard = createSendGuard(() => now);
    guard('a', 2_000);
    now = 2_000;
    expect(() => guard('a', 3_000)).toThrow('this send has arrived before');
    now = 2_001;
    guard('a', 3_000);
  });
});

describe('a transfer between accounts of a process', () => {
  test('is moved once and found', async () => {
    const world = await apart('binance');
    const [provider] = createCexTransfers(world.accounts);
    const placed = order();
    expect(await provider?.find(placed, call())).toBeNull();
    expect(await provider?.submit(placed, call())).toMatchObject({ status: 'pending' });
    const [moved] = world.books.transfers;
    expect(await provider?.find(placed, call())).toEqual({
      status: 'completed',
      provider_transfer_id: moved?.id,
    });
    expect(world.books.transfers).toHaveLength(1);
    const [keyed] = createCexTransfers(world.keyed);
    expect(provider?.accounts).toEqual(keyed?.accounts);
    expect([provider?.scope, provider?.settle_seconds]).toEqual([
      keyed?.scope,
      keyed?.settle_seconds,
    ]);
    // The process may still send after the call here has ended.
    expect([provider?.in_process, keyed?.in_process]).toEqual([false, true]);
  });

  test('is sent once when its request is delivered twice', async () => {
    const world = await apart('binance');
    const [provider] = createCexTransfers(world.accounts);
    const placed = order();
    expect(await provider?.submit(placed, call())).toMatchObject({ status: 'pending' });
    const again = Promise.resolve(provider?.submit(placed, call()));
    expect(await faultOf(again)).toMatchObject({ kind: 'protocol', code: 'SEND_REPEATED' });
    const { desk, books, paths } = world;
    const sends = desk.exchange.requests.filter(
      ({ method, path }) => method === 'POST' && path === paths.transfer,
    );
    expect([sends.length, books.transfers.length]).toEqual([1, 1]);
  });

  test('of a node is moved once, and observed to its end', async () => {
    const world = await apart('binance');
    const executor = world.executorOf('cex_internal_transfer');
    const ends = { venue: 'cex-main', destination_venue: 'cex-sub' };
    const node = contextOf('cex_internal_transfer', ends);
    expect(await executor.preflight(node, call())).toBeNull();
    const { reported, context } = await runOnce(executor, node);
    const [moved] = world.books.transfers;
    const external_ref = moved?.id;
    expect(reported).toMatchObject({ next_state: 'SUBMITTED', external_ref });
    expect(await executor.observe(context, call(), NO_JOURNAL)).toMatchObject({
      ...{ next_state: 'COMPLETED', external_ref },
      output: { submitted_amount: '100.5', received_amount: '100.5', fee_amount: '0' },
    });
    expect(world.books.transfers).toMatchObject([
      {
        ...{ asset: 'USDC', amount: '100.5' },
        source: { account: null },
        destination: { account: binance.books.subs[0] },
      },
    ]);
  });

  test('whose answer is lost is open, and found', async () => {
    const world = await apart('binance');
    const [provider] = createCexTransfers(world.accounts);
    const placed = order();
    const path = world.paths.transfer ?? '';
    world.desk.exchange.fail({ path, method: 'POST', kind: 'done_then_500' });
    const fault = await faultOf(Promise.resolve(provider?.submit(placed, call())));
    expect(fault.kind).not.toBe('rejected');
    expect(await provider?.find(placed, call())).toMatchObject({ status: 'completed' });
    expect(world.books.transfers).toHaveLength(1);
  });

  test.each(['capital transfer', 'node'])(
    'a %s to a sub-account that is another one there is refused',
    async (kind) => {
      const world = await apart('binance', { subChanges: { account: 'sub-b@example.com' } });
      const [provider] = createCexTransfers(world.accounts);
      const node = contextOf('cex_internal_transfer', {
        venue: 'cex-main',
        destination_venue: 'cex-sub',
      });
      const executor = world.executorOf('cex_internal_transfer');
      const work =
        kind === 'node'
          ? executor.prepare(node, call())
          : Promise.resolve(provider?.submit(order(), call()));
      expect(await faultOf(work)).toMatchObject({ kind: 'rejected', code: 'VENUE_MISMATCH' });
      expect(world.books.transfers).toHaveLength(0);
    },
  );
});
