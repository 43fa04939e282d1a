/** What an exchange's error proves, whatever status it comes with. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { ExecutorFault } from '../../../domain/executor.ts';
import type { RequestDesk } from '../../../domain/request-desk.ts';
import { createLocalRequestDesk } from '../../../platform/request-desk.ts';
import { openConnection } from '../../../venues/cex/client.ts';
import type { Dialect } from '../../../venues/cex/dialect.ts';
import { binance } from '../../../venues/cex/dialects/binance/dialect.ts';
import { call, openDesk, type Desk } from './support/desk.ts';

const READ = 'sapiGetAccountApiRestrictions';

let desk: Desk;
let server: Server;
let answer: { readonly status: number; readonly body: object; readonly after?: string };
let requests = 0;

beforeAll(async () => {
  desk = await openDesk();
  server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      ...(answer.after === undefined ? {} : { 'retry-after': answer.after }),
    });
    response.end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await desk.close();
});
beforeEach(() => {
  requests = 0;
});

/** Says in its bodies what other exchanges say by the status. */
const inBody: Dialect = {
  ...binance,
  errors_with_success: true,
  rate_limit_codes: ['50011'],
  refusals: { '58350': 'INSUFFICIENT_FUNDS', '50011': 'EXCHANGE_REFUSED' },
  readError(body) {
    const { code = '0', msg = '' } = body as { readonly code?: string; readonly msg?: string };
    return code === '0' ? null : { code, message: msg };
  },
};

async function connect(
  dialect: Dialect = inBody,
  requestDesk: RequestDesk = createLocalRequestDesk(),
) {
  const base_url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const [venue] = desk.bindings({ base_url }, { base_url });
  if (venue === undefined) throw new Error('no binding');
  return openConnection(venue, dialect, requestDesk);
}

async function faultOf(work: Promise<unknown>): Promise<ExecutorFault> {
  const fault = await work.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (!(fault instanceof ExecutorFault)) throw new Error(`no fault but ${inspect(fault)}`);
  return fault;
}

test.each([
  [200, '58350', 'rejected', 'INSUFFICIENT_FUNDS'],
  [400, '58350', 'rejected', 'INSUFFICIENT_FUNDS'],
  [200, '58999', 'server_error', 'CEX_ERROR'],
  [400, '58999', 'server_error', 'CEX_ERROR'],
  // A listed code proves nothing beside a status that leaves the outcome open.
  [500, '58350', 'server_error', 'CEX_ERROR'],
  [408, '58350', 'server_error', 'CEX_ERROR'],
  [409, '58350', 'server_error', 'CEX_ERROR'],
  [425, '58350', 'server_error', 'CEX_ERROR'],
  [302, '58350', 'server_error', 'CEX_ERROR'],
  [418, '58350', 'server_error', 'CEX_RATE_LIMITED'],
  [429, '58350', 'server_error', 'CEX_RATE_LIMITED'],
  [200, '50011', 'server_error', 'CEX_RATE_LIMITED'],
  // Names that every object has are no codes.
  [200, 'constructor', 'server_error', 'CEX_ERROR'],
])('status %s with code %s is %s %s', async (status, code, kind, expected) => {
  answer = { status, body: { code, msg: 'a text' } };
  const fault = await faultOf((await connect()).ask(READ, {}, call()));
  expect({ kind: fault.kind, code: fault.code }).toEqual({ kind, code: expected });
  expect(fault.message).toContain(`${String(status)}: ${code} a text`);
});

test('an exchange that answers by its status alone refuses nothing with 200', async () => {
  answer = { status: 200, body: { code: '-4026', msg: 'balance' } };
  const found = await (
    await connect(binance)
  )
    .ask(READ, {}, call())
    .catch((error: unknown) => error);
  expect(found).not.toMatchObject({ kind: 'rejected' });
});

test('a good answer is the whole body', async () => {
  answer = { status: 200, body: { code: '0', data: [{ wdId: '7' }] } };
  await expect((await connect()).ask(READ, {}, call())).resolves.toEqual(answer.body);
});

describe('a search', () => {
  const search = async (status: number, code: string) => {
    answer = { status, body: { code, msg: 'a text' } };
    return (await connect()).find(READ, {}, { absent: ['58215'], call: call() });
  };

  test('finds nothing where the exchange says so', async () => {
    expect(await search(200, '58215')).toBeNull();
    expect(await search(400, '58215')).toBeNull();
  });

  test.each([
    [500, '58215'],
    [409, '58215'],
    [429, '58215'],
    [200, '58999'],
    [200, '50011'],
  ])('proves nothing by status %s with code %s', async (status, code) => {
    await expect(search(status, code)).rejects.toBeInstanceOf(ExecutorFault);
  });
});

describe('an exchange that limits a key', () => {
  test('stops all who share its budget, for as long as it says', async () => {
    const shared = createLocalRequestDesk();
    const [one, other] = [await connect(inBody, shared), await connect(inBody, shared)];
    answer = { status: 429, body: { code: '50011' }, after: '3' };
    await faultOf(one.ask(READ, {}, call()));
    expect(requests).toBe(1);
    answer = { status: 200, body: { code: '0' } };
    const fault = await faultOf(other.ask(READ, {}, call(AbortSignal.timeout(1_000))));
    expect(fault.message).toContain('before anything was sent');
    expect(requests).toBe(1);
    await expect(other.ask(READ, {}, call())).resolves.toEqual({ code: '0' });
    expect(requests).toBe(2);
  });

  test.each<[string, string | undefined, number]>([
    ['50012', undefined, 660],
    ['50012', '3', 3],
    ['50011', undefined, 10],
  ])('by %s with the header %s stops it for %i s', async (code, after, seconds) => {
    const stops: number[] = [];
    const noting: RequestDesk = {
      ...createLocalRequestDesk(),
      stop: async (_key, milliseconds) => void stops.push(milliseconds),
    };
    const pausing: Dialect = {
      ...inBody,
      rate_limit_codes: ['50011', '50012'],
      rate_limit_pauses: { '50012': 660 },
    };
    answer = { status: 200, body: { code }, ...(after === undefined ? {} : { after }) };
    const fault = await faultOf((await connect(pausing, noting)).ask(READ, {}, call()));
    expect([fault.code, stops]).toEqual(['CEX_RATE_LIMITED', [seconds * 1_000]]);
  });
});

describe('an exchange that needs growing nonces', () => {
  test('gets the requests of all who share the key one at a time', async () => {
    const shared = createLocalRequestDesk();
    const growing: Dialect = {
      ...inBody,
      growing_nonce: true,
      budget: { capacity: 100, units_per_second: 1_000 },
    };
    const [one, other] = [await connect(growing, shared), await connect(growing, shared)];
    let [running, most] = [0, 0];
    answer = { status: 200, body: { code: '0' } };
    server.prependListener('request', (_request, response) => {
      running += 1;
      most = Math.max(most, running);
      response.once('finish', () => {
        running -= 1;
      });
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? one : other).ask(READ, {}, call()),
      ),
    );
    expect(most).toBe(1);
    expect(requests).toBe(20);
  });
});
