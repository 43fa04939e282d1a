import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { jest } from '@jest/globals';
import { ExecutorFault } from '../../../domain/executor.ts';
import { createLogger } from '../../../platform/log.ts';
import { createLocalRequestDesk } from '../../../platform/request-desk.ts';
import { openConnection } from '../../../venues/cex/client.ts';
import { exchangeClocks } from '../../../venues/cex/clock.ts';
import type { CexConnection } from '../../../venues/cex/connection.ts';
import { readCredentials } from '../../../venues/cex/credentials.ts';
import { binance } from '../../../venues/cex/dialects/binance/dialect.ts';
import { call, freshBooks, openDesk, type Desk } from './support/desk.ts';
import { started } from '../../support/started.ts';

const desk = started(() => openDesk());

beforeEach(() => freshBooks(desk));

const READ = 'sapiGetAccountApiRestrictions';
const WRITE = 'sapiPostCapitalWithdrawApply';

const open = (changes: object = {}): Promise<CexConnection> =>
  openConnection(
    desk.bindings(changes, 'sandbox' in changes ? changes : {})[0]!,
    binance,
    createLocalRequestDesk(),
  );

async function faultOf(work: Promise<unknown>): Promise<ExecutorFault> {
  const fault = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(fault instanceof ExecutorFault)) throw new Error(`no fault but ${inspect(fault)}`);
  return fault;
}

test('the time of each account is that of its exchange, a sub-account by its master', async () => {
  desk.exchange.books.skew = 90_000;
  const clocks = exchangeClocks(desk.accounts());
  expect(Object.keys(clocks)).toEqual(['cex-main', 'cex-sub']);
  for (const { read } of Object.values(clocks)) {
    const ahead = (await read(call().signal)) - Date.now();
    expect(Math.abs(ahead - 90_000)).toBeLessThan(5_000);
  }
});

describe('what goes out', () => {
  test('is signed with the key, within a short time window', async () => {
    const connection = await open();
    await expect(connection.ask(READ, {}, call())).resolves.toMatchObject({
      enableWithdrawals: true,
    });
    const [request] = desk.exchange.requests;
    expect(request?.parameters.get('recvWindow')).toBe('5000');
  });

  test('is refused by a wrong secret: the exchange under test does check signatures', async () => {
    const credentials_file = await desk.keyFile('wrong.json', {
      ...desk.exchange.key(null),
      secret: 'another-secret',
    });
    const fault = await faultOf((await open({ credentials_file })).ask(READ, {}, call()));
    expect(fault).toMatchObject({ kind: 'rejected', code: 'EXCHANGE_KEY_REFUSED' });
    expect(fault.message).toContain('-1022');
  });

  test('is refused when the clocks differ, which proves that nothing was done', async () => {
    desk.exchange.books.skew = 60_000;
    expect(await faultOf((await open()).ask(WRITE, {}, call()))).toMatchObject({
      kind: 'rejected',
      code: 'CLOCK_DIFFERENCE',
    });
  });

  test('never goes out once the signal has aborted', async () => {
    const fault = await faultOf((await open()).ask(WRITE, {}, call(AbortSignal.abort())));
    expect(fault).toMatchObject({ kind: 'timeout', code: 'CEX_ABORTED' });
    expect(fault.message).toContain('before anything was sent');
    expect(desk.exchange.requests).toEqual([]);
  });

  test('does not go out when the time is over while it waits for the rate limit', async () => {
    const connection = await open();
    const controller = new AbortController();
    // The address book costs ten times the pace of one call, so what comes after it waits.
    await connection.ask('sapiGetCapitalWithdrawAddressList', {}, call());
    const waits = faultOf(connection.ask(WRITE, {}, call(controller.signal)));
    controller.abort();
    expect(await waits).toMatchObject({ code: 'CEX_ABORTED' });
    await sleep(900);
    expect(desk.exchange.requests.map(({ path }) => path)).toEqual([
      '/sapi/v1/capital/withdraw/address/list',
    ]);
  });

  test('does not go out when the process was stopped in that wait until the time was over, though no timer has said so', async () => {
    const connection = await open({ timeout_seconds: 1.2 });
    await connection.ask('sapiGetCapitalWithdrawAddressList', {}, call());
    const waits = faultOf(connection.ask(WRITE, {}, call()));
    await sleep(50);
    // As with SIGSTOP: its turn and the end of its time have both come when the process goes on.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    const fault = await waits;
    expect(fault).toMatchObject({ kind: 'timeout', code: 'CEX_TIMEOUT' });
    await sleep(300);
    expect(desk.exchange.requests.map(({ path }) => path)).toEqual([
      '/sapi/v1/capital/withdraw/address/list',
    ]);
    expect(fault.message).toContain('before anything was sent');
  });

  test('does not go out when the machine was suspended in that wait, which no timer counts', async () => {
    const local = createLocalRequestDesk();
    const take: typeof local.take = async (...of) => {
      const [wait, wall_ms] = [await local.take(...of), Date.now() + 60_000];
      jest.spyOn(Date, 'now').mockReturnValue(wall_ms);
      return wait;
    };
    const connection = await openConnection(desk.bindings()[0]!, binance, { ...local, take });
    const fault = await faultOf(connection.ask(WRITE, {}, call())).finally(() =>
      jest.restoreAllMocks(),
    );
    expect(fault).toMatchObject({ kind: 'timeout', code: 'CEX_TIMEOUT' });
    expect(fault.message).toContain('before anything was sent');
    expect(desk.exchange.requests).toEqual([]);
  });
});

describe('what leaves open what became of a write', () => {
  const unknown: readonly (readonly [
    string,
    Parameters<Desk['exchange']['fail']>[0],
    string,
    string,
  ])[] = [
    ['500', { path: 'apply', kind: 'error_500' }, 'server_error', 'CEX_ERROR'],
    ['a lost answer', { path: 'apply', kind: 'hangup' }, 'unreachable', 'CEX_UNREACHABLE'],
    [
      'no answer in time',
      { path: 'apply', kind: 'slow', milliseconds: 900 },
      'timeout',
      'CEX_TIMEOUT',
    ],
    [
      '429',
      {
        path: 'apply',
        kind: 'status',
        status: 429,
        body: { code: -1003, msg: 'Too many requests' },
      },
      'server_error',
      'CEX_RATE_LIMITED',
    ],
    [
      '418',
      { path: 'apply', kind: 'status', status: 418, body: { code: -1003, msg: 'banned' } },
      'server_error',
      'CEX_RATE_LIMITED',
    ],
    [
      'a gateway',
      { path: 'apply', kind: 'status', status: 502, body: {} },
      'server_error',
      'CEX_ERROR',
    ],
    [
      '"execution status unknown"',
      { path: 'apply', kind: 'status', status: 400, body: { code: -1007, msg: 'Timeout' } },
      'server_error',
      'CEX_ERROR',
    ],
    [
      'a refusal code with a server error',
      { path: 'apply', kind: 'status', status: 500, body: { code: -4026, msg: 'x' } },
      'server_error',
      'CEX_ERROR',
    ],
    [
      'a refusal code with success',
      { path: 'apply', kind: 'status', status: 200, body: { code: -4026, msg: 'x' } },
      'server_error',
      'CEX_ERROR',
    ],
    [
      'an unknown code',
      { path: 'apply', kind: 'status', status: 400, body: { code: -9999, msg: 'x' } },
      'server_error',
      'CEX_ERROR',
    ],
    [
      'a redirect',
      { path: 'apply', kind: 'status', status: 302, body: {} },
      'server_error',
      'CEX_ERROR',
    ],
    [
      '403 of a firewall',
      { path: 'apply', kind: 'status', status: 403, body: {} },
      'server_error',
      'CEX_ERROR',
    ],
  ];
  test.each(unknown)('%s', async (_name, fault, kind, code) => {
    const connection = await open({ timeout_seconds: 0.6 });
    desk.exchange.fail(fault);
    expect(await faultOf(connection.ask(WRITE, { coin: 'USDC' }, call()))).toMatchObject({
      kind,
      code,
    });
    // Once: neither this layer nor the library below repeats a write.
    expect(desk.exchange.requests).toHaveLength(1);
  });

  test('an answer that is no JSON', async () => {
    const connection = await open();
    desk.exchange.fail({ path: 'apply', kind: 'malformed' });
    const order = {
      client_id: 'x',
      asset: 'USDC',
      network: 'ETH',
      address: '0x1',
      tag: null,
      amount: '1',
      fee_limit: null,
    };
    expect(await faultOf(binance.withdraw(connection, order, {}, call()))).toMatchObject({
      kind: 'protocol',
      code: 'CEX_PROTOCOL_ERROR',
    });
  });

  test('an abort while the exchange works on it', async () => {
    const connection = await open();
    desk.exchange.fail({ path: 'apply', kind: 'slow', milliseconds: 500 });
    const fault = await faultOf(
      connection.ask(WRITE, { coin: 'USDC' }, call(AbortSignal.timeout(100))),
    );
    expect(fault).toMatchObject({ kind: 'timeout', code: 'CEX_ABORTED' });
    expect(fault.message).not.toContain('before anything was sent');
  });
});

describe('a sandbox', () => {
  test('that does not have an endpoint is a clear refusal, and nothing goes to the real exchange', async () => {
    const fault = await faultOf(
      (await open({ sandbox: true })).ask(WRITE, { coin: 'USDC' }, call()),
    );
    expect(fault).toMatchObject({ kind: 'rejected', code: 'SANDBOX_NOT_SUPPORTED' });
    expect(desk.exchange.requests).toEqual([]);
  });

  test('is called where it has the endpoint', async () => {
    await expect(
      (await open({ sandbox: true })).ask('privateGetAccount', {}, call()),
    ).resolves.toHaveProperty('balances');
  });
});

describe('secrets', () => {
  test('are in no fault, whatever the exchange says', async () => {
    const key = desk.exchange.key(null);
    const connection = await open({ timeout_seconds: 0.5 });
    const faults: ExecutorFault[] = [];
    desk.exchange.fail({
      path: 'apply',
      kind: 'refuse',
      status: 400,
      body: { code: -1100, msg: `bad ${key.api_key} and ${key.secret}` },
    });
    faults.push(await faultOf(connection.ask(WRITE, {}, call())));
    for (const kind of ['error_500', 'hangup', 'slow'] as const) {
      desk.exchange.fail({ path: 'apply', kind, milliseconds: 700 });
      faults.push(await faultOf(connection.ask(WRITE, {}, call())));
    }
    const lines: string[] = [];
    const log = createLogger({ logLevel: 'debug' }, 'test', {
      write: (line: string) => void lines.push(line),
    });
    for (const fault of faults) log.error({ err: fault }, 'failed');
    const all = [
      ...lines,
      ...faults.flatMap((fault) => [inspect(fault, { depth: 10 }), JSON.stringify(fault)]),
    ].join('\n');
    expect(all).not.toContain(key.secret);
    expect(all).not.toContain(key.api_key);
    expect(all).not.toMatch(/signature=/);
    expect(all).toContain('[redacted]');
  });

  test('are not shown by what holds them', async () => {
    const key = desk.exchange.key(null);
    const credentials = await readCredentials(
      await desk.keyFile('shown.json', { ...key, password: 'pass-phrase' }),
    );
    const shown = [
      inspect(credentials, { depth: 9, showHidden: true }),
      JSON.stringify(credentials),
      `${String(credentials.secret)}`,
    ].join();
    for (const secret of [key.api_key, key.secret, 'pass-phrase'])
      expect(shown).not.toContain(secret);
    expect(credentials.secret.reveal()).toBe(key.secret);
  });
});
