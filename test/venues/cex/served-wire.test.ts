/**
 * The answers of a process with the keys of an exchange account: a fault over the wire proves no
 * more than it proves there, and what is read is the same.
 */
import { rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { withDeadline } from '../../../activities/call.ts';
import { deadlineOf } from '../../../domain/send/window.ts';
import { momentNow } from '../../../platform/deadline.ts';
import { createCexTransfers } from '../../../venues/cex/account-transfers.ts';
import { createCexBalances } from '../../../venues/cex/balances.ts';
import { exchangeClocks } from '../../../venues/cex/clock.ts';
import { readAddressBook, readVenueRecords } from '../../../venues/cex/records.ts';
import { executorIn, faultOf, order, remoteAccounts, startAparts } from './support/apart.ts';
import { call, configOf, NO_JOURNAL, withdrawal } from './support/desk.ts';
import { binance } from './support/formats/binance.ts';
import { madeWithdrawal } from './support/made.ts';

const aparts = startAparts([binance]);
const apart = aparts.open;

const quotaOf = (left: string) => ({ left, unit: 'USD' });

describe('a process that answers nothing usable', () => {
  let answer: { status: number; body: string };
  let server: Server;
  let requests: { path: string; body: unknown; notAfter: number }[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body: unknown = JSON.parse(Buffer.concat(parts).toString() || 'null');
        const notAfter = Date.parse(String(request.headers['x-not-after']));
        requests.push({ path: request.url ?? '', body, notAfter });
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void server.close());
  beforeEach(() => void (requests = []));

  const accounts = async () => {
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${String(port)}`;
    const opened = await remoteAccounts(aparts.deskOf('binance'), url);
    aparts.onClose(opened.close);
    return opened;
  };
  const fault = (kind: string, code = 'CODE') =>
    JSON.stringify({ fault: { kind, code, message: 'words' } });
  const submitInput = () => ({
    context: withdrawal(configOf(binance)),
    prepared_action: {},
    journal: NO_JOURNAL,
  });

  test.each<[string, number, string]>([
    ['500', 500, '{}'],
    ['502 of a proxy', 502, '<html>'],
    ['503 with a refusal', 503, fault('rejected')],
    ['422 with another kind', 422, fault('timeout')],
    ['422 that states nothing', 422, '{"error_code":"X","error_message":"no"}'],
    ['a wrong token', 401, '{"error_code":"UNAUTHORIZED","error_message":"no"}'],
    ['403', 403, fault('rejected')],
    ['404', 404, fault('rejected')],
    ['413', 413, '{}'],
    ['a redirect', 302, ''],
    ['no JSON', 200, 'nothing'],
    ['an empty object', 200, '{}'],
    ['no answer of this phase', 200, '{"next_state":"READY"}'],
    ['an answer that is too long', 200, `{"next_state":"FAILED"}${' '.repeat(2_000_000)}`],
  ])('%s proves nothing', async (_, status, body) => {
    answer = { status, body };
    const opened = await accounts();
    const executor = executorIn(opened, 'cex_withdrawal');
    const [provider] = createCexTransfers(opened);
    expect((await faultOf(executor.submit(submitInput(), call()))).kind).not.toBe('rejected');
    const sent = provider?.submit(order(), call());
    expect((await faultOf(Promise.resolve(sent))).kind).not.toBe('rejected');
    // Each was sent once.
    expect(requests.map(({ path }) => path)).toEqual([
      '/executors/ccxt.withdrawal/submit',
      '/transfers/submit',
    ]);
  });

  test('a send is not to be started after its caller has stopped waiting', async () => {
    answer = { status: 503, body: '{}' };
    const opened = await accounts();
    const executor = executorIn(opened, 'cex_withdrawal');
    const [provider] = createCexTransfers(opened);
    const sends: [number | undefined, () => Promise<unknown> | undefined][] = [
      [executor.descriptor.timeout_seconds, () => executor.submit(submitInput(), call())],
      [provider?.timeout_seconds, () => provider?.submit(order(), call())],
    ];
    for (const [seconds = 0, send] of sends) {
      const start = Date.now();
      await faultOf(Promise.resolve(send()));
      const took = Date.now() - start;
      const late = (requests.at(-1)?.notAfter ?? 0) - start - seconds * 1_000;
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThanOrEqual(took);
    }
    expect(requests).toHaveLength(2);
  });

  test.each([
    ['sooner', 2, 9],
    ['later', 9, 2],
  ])('a limit within another one that ends %s: the sooner counts', async (_, outer, inner) => {
    answer = { status: 503, body: '{}' };
    const opened = await accounts();
    const executor = executorIn(opened, 'cex_withdrawal');
    const [provider] = createCexTransfers(opened);
    const limited = (send: Parameters<typeof withDeadline>[2]): Promise<unknown> =>
      withDeadline(call(), deadlineOf(momentNow(), outer), (one) =>
        withDeadline(one, deadlineOf(momentNow(), inner), send),
      );
    const before = Date.now();
    await faultOf(limited((each) => executor.submit(submitInput(), each)));
    await faultOf(limited(async (each) => provider?.submit(order(), each)));
    const took = Date.now() - before;
    for (const { notAfter } of requests) {
      expect(notAfter).toBeGreaterThanOrEqual(before + 2_000);
      expect(notAfter).toBeLessThanOrEqual(before + 2_000 + took);
    }
    expect(requests).toHaveLength(2);
  });

  test.each<[string, number, string, string]>([
    ['500', 500, '{"error_code":"INTERNAL_ERROR","error_message":"failed"}', 'unreachable'],
    ['502', 502, '{}', 'unreachable'],
    ['503 that states nothing', 503, '{"error_code":"UNAVAILABLE"}', 'unreachable'],
    ['504', 504, '', 'unreachable'],
    ['HTML of a proxy', 502, '<html>', 'unreachable'],
    ['HTML with 200', 200, '<html>', 'unreachable'],
    ['429', 429, '{}', 'unreachable'],
    ['408', 408, '{}', 'timeout'],
    ['204, a pass of other executors', 204, '', 'unreachable'],
    ['200 without a pass', 200, '{}', 'unreachable'],
    ['200 with half a pass', 200, '{"passed":false}', 'unreachable'],
    ['a stated fault', 503, fault('server_error'), 'server_error'],
    ['a stated refusal', 422, fault('rejected'), 'rejected'],
  ])('a preflight that is answered %s has not passed', async (_, status, body, kind) => {
    answer = { status, body };
    const executor = executorIn(await accounts(), 'cex_withdrawal');
    const { context } = submitInput();
    expect((await faultOf(executor.preflight(context, call()))).kind).toBe(kind);
    expect(requests).toHaveLength(1);
  });

  test('a preflight has passed by one answer alone', async () => {
    answer = { status: 200, body: '{"passed":true}' };
    const executor = executorIn(await accounts(), 'cex_withdrawal');
    expect(await executor.preflight(submitInput().context, call())).toBeNull();
  });

  test('without a readable token a send has failed, since nothing was sent', async () => {
    const desk = aparts.deskOf('binance');
    const { port } = server.address() as AddressInfo;
    const opened = await remoteAccounts(desk, `http://127.0.0.1:${String(port)}`, 'removed');
    aparts.onClose(opened.close);
    const file = join(desk.folder, 'service-removed.token');
    const executor = executorIn(opened, 'cex_withdrawal');
    const [provider] = createCexTransfers(opened);
    for (const spoil of [() => writeFile(file, 'two\nlines'), () => rm(file)]) {
      await spoil();
      expect(await executor.submit(submitInput(), call())).toMatchObject({
        next_state: 'FAILED',
        error_code: 'TOKEN_UNREADABLE',
      });
      expect(await provider?.submit(order(), call())).toMatchObject({
        status: 'failed',
        error_code: 'TOKEN_UNREADABLE',
      });
      // What is no send waits.
      const { context } = submitInput();
      expect((await faultOf(executor.preflight(context, call()))).kind).toBe('unreachable');
      const found = Promise.resolve(provider?.find(order(), call()));
      expect((await faultOf(found)).kind).toBe('unreachable');
    }
    expect(requests).toEqual([]);
  });

  test('only a stated refusal is one', async () => {
    answer = { status: 422, body: fault('rejected', 'VENUE_NOT_BOUND') };
    const executor = executorIn(await accounts(), 'cex_withdrawal');
    expect(await faultOf(executor.submit(submitInput(), call()))).toMatchObject({
      kind: 'rejected',
      code: 'VENUE_NOT_BOUND',
      message: 'words',
    });
  });

  test.each(['timeout', 'unreachable', 'server_error', 'protocol', 'not_yet'])(
    'a stated fault %s stays one',
    async (kind) => {
      answer = { status: 503, body: fault(kind, 'CEX_TIMEOUT') };
      const executor = executorIn(await accounts(), 'cex_withdrawal');
      expect(await faultOf(executor.submit(submitInput(), call()))).toMatchObject({
        kind,
        code: 'CEX_TIMEOUT',
      });
    },
  );

  test('a transfer has failed only by a whole answer', async () => {
    const [provider] = createCexTransfers(await accounts());
    const failed = { status: 'failed', error_code: 'ASSET_UNKNOWN', error_message: 'no' };
    answer = { status: 200, body: JSON.stringify({ answer: failed }) };
    expect(await provider?.submit(order(), call())).toEqual(failed);
    answer = { status: 200, body: JSON.stringify({ answer: { status: 'failed' } }) };
    const half = Promise.resolve(provider?.submit(order(), call()));
    expect((await faultOf(half)).kind).toBe('unreachable');
  });

  test.each<[string, unknown]>([
    ['a number as an amount', { available: 5 }],
    ['an exponent', { available: '1e9' }],
    ['a missing amount', { available: undefined }],
  ])('balances with %s are not taken', async (_, change) => {
    const pool = { account_type: 'SPOT', asset: 'USDC', available: '5', withdrawable: '5' };
    const pools = [{ ...pool, total: '5', details: null, ...(change as object) }];
    answer = { status: 200, body: JSON.stringify({ pools, outlook: null }) };
    const [fetcher] = createCexBalances(await accounts());
    expect((await faultOf(Promise.resolve(fetcher?.fetch(call())))).kind).toBe('unreachable');
  });

  test.each<[string, unknown]>([
    ['a quota of more digits than are stored', { quota: quotaOf('9'.repeat(21)), closed: [] }],
    ['a quota of more decimals', { quota: quotaOf(`0.${'1'.repeat(19)}`), closed: [] }],
    ['a quota below zero', { quota: quotaOf('-1'), closed: [] }],
    ['another shape', { closed: 'none' }],
    ['no shape', undefined],
  ])('an outlook of %s does not cost the pools', async (_, outlook) => {
    const pool = { account_type: 'SPOT', asset: 'USDC', available: '5', withdrawable: '5' };
    const pools = [{ ...pool, total: '5', details: null }];
    answer = { status: 200, body: JSON.stringify({ pools, outlook }) };
    const [fetcher] = createCexBalances(await accounts());
    expect(await fetcher?.fetch(call())).toEqual({ pools, outlook: null });
    const most = { quota: quotaOf(`${'9'.repeat(20)}.${'1'.repeat(18)}`), closed: [] };
    answer = { status: 200, body: JSON.stringify({ pools, outlook: most }) };
    expect(await fetcher?.fetch(call())).toEqual({ pools, outlook: most });
  });
});

describe('what is read of an account', () => {
  /** The accounts of a process that answers the body and the headers of each request so. */
  const answering = async (
    answerOf: (
      body: string,
      headers: IncomingHttpHeaders,
    ) => { readonly status?: number; readonly body: object },
  ) => {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { status = 200, body } = answerOf(Buffer.concat(parts).toString(), request.headers);
        response.writeHead(status).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${String(port)}`;
    const accounts = await remoteAccounts(aparts.deskOf('binance'), url);
    aparts.onClose(async () => {
      await accounts.close();
      server.close();
    });
    return accounts;
  };

  test('is the same as with its key', async () => {
    const world = await apart('binance');
    world.books.withdrawals.push(madeWithdrawal({ id: 'w-7' }));
    const fetched = async (accounts: typeof world.accounts) =>
      Promise.all(createCexBalances(accounts).map((each) => each.fetch(call())));
    const [there, here] = [await fetched(world.accounts), await fetched(world.keyed)];
    expect(there).toEqual(here);
    expect(there[0]?.pools.find(({ asset }) => asset === 'USDC')?.withdrawable).toBe('1000');
    const book = await readAddressBook(world.accounts, 'cex-main', call());
    expect(book).toEqual(await readAddressBook(world.keyed, 'cex-main', call()));
    expect(book).toHaveLength(1);
    const period = { from: Date.now() - 3_600_000, to: Date.now() + 1_000 };
    const records = await readVenueRecords(world.accounts, 'cex-main', period, call());
    expect(records).toEqual(await readVenueRecords(world.keyed, 'cex-main', period, call()));
    expect(records.map(({ id }) => id)).toEqual(['w-7']);
    expect((await world.executorOf('cex_withdrawal').health(call())).state).toBe('up');
  });

  test('its faults keep their code', async () => {
    const world = await apart('binance');
    const period = { from: Date.now() - 400 * 86_400_000, to: Date.now() };
    const read = (accounts: typeof world.accounts, venue: string) =>
      faultOf(readVenueRecords(accounts, venue, period, call()));
    for (const venue of ['cex-main', 'cex-sub']) {
      const { kind, code } = await read(world.keyed, venue);
      expect(await read(world.accounts, venue)).toMatchObject({ kind, code });
    }
  });

  test('a key that may not withdraw is reported as down', async () => {
    const world = await apart('binance');
    world.books.permissions.withdraw = false;
    const health = await world.executorOf('cex_withdrawal').health(call());
    expect([health.state, health.detail]).toEqual(['down', expect.stringContaining('cex-main')]);
  });

  test('its clock shows how far the exchange is from who signs', async () => {
    const world = await apart('binance');
    world.books.skew = 120_000;
    const read = exchangeClocks(world.accounts)['cex-main']?.read;
    const ahead = ((await read?.(call().signal)) ?? 0) - Date.now();
    expect(Math.abs(ahead - 120_000)).toBeLessThan(10_000);
  });

  // Each is how far a clock is ahead of this host.
  test.each<[string, { readonly exchange: number; readonly process: number }]>([
    ['of the process', { exchange: 0, process: -90_000 }],
    ['of this host', { exchange: 90_000, process: 90_000 }],
    ['of the process, with the exchange between both', { exchange: 45_000, process: 90_000 }],
  ])('the clock that is further off counts: that %s', async (_, ahead) => {
    const accounts = await answering(() => {
      const now = Date.now();
      return { body: { exchange: now + ahead.exchange, process: now + ahead.process } };
    });
    const read = exchangeClocks(accounts)['cex-main']?.read;
    const apartMs = Math.abs(((await read?.(call().signal)) ?? 0) - Date.now());
    expect(Math.abs(apartMs - 90_000)).toBeLessThan(10_000);
  });

  test('a process whose clock is off is measured, though it takes every call as late', async () => {
    const ahead = 120_000;
    const accounts = await answering((_body, { 'x-not-after': notAfter }) => {
      const now = Date.now() + ahead;
      // As the kit does.
      const isLate = Date.parse(String(notAfter)) <= now;
      return { status: isLate ? 503 : 200, body: { exchange: now - ahead, process: now } };
    });
    const read = exchangeClocks(accounts)['cex-main']?.read;
    const apartMs = Math.abs(((await read?.(call().signal)) ?? 0) - Date.now());
    expect(Math.abs(apartMs - ahead)).toBeLessThan(10_000);
    const executor = executorIn(accounts, 'cex_withdrawal');
    const preflight = executor.preflight(withdrawal(configOf(binance)), call());
    expect((await faultOf(preflight)).kind).toBe('unreachable');
  });

  test('more records than an answer holds are read in parts, each once', async () => {
    const at = (minute: number) => minute * 60_000;
    const recordOf = (kind: string, id: string, minute: number) => ({
      ...{ kind, id, client_id: null, status: 'completed' },
      ...{ at: new Date(at(minute)).toISOString(), asset: 'USDC', amount: '1', fee: null },
      ...{ network: null, address: null, tag: null, transaction: null },
      ...{ source: null, destination: null },
    });
    const made = [
      ...[0, 7, 16, 16, 31, 47].map((minute, index) =>
        recordOf('deposit', `d-${String(index)}`, minute),
      ),
      // Ids of several kinds may be equal.
      recordOf('withdrawal', 'd-0', 52),
    ];
    const fault = { kind: 'protocol', code: 'RECORDS_TOO_MANY', message: 'too many' };
    const accounts = await answering((body) => {
      const { period } = JSON.parse(body) as { period: { from: number; to: number } };
      const records = made.filter(
        (each) => Date.parse(each.at) >= period.from && Date.parse(each.at) <= period.to,
      );
      return records.length > 2 ? { status: 503, body: { fault } } : { body: { records } };
    });
    const period = { from: 0, to: at(60) };
    const read = await readVenueRecords(accounts, 'cex-main', period, call());
    const names = (records: readonly { readonly kind: string; readonly id: string }[]) =>
      records.map(({ kind, id }) => `${kind} ${id}`).sort();
    expect(names(read)).toEqual(names(made));
  });
});
