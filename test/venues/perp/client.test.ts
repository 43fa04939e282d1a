/** What of a venue's answers is believed, over HTTP; its answers are written out here. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPerpBalances } from '../../../venues/perp/balances.ts';
import { createPerpClient, type PerpClient } from '../../../venues/perp/client.ts';
import { perpVenueSchema } from '../../../venues/perp/config.ts';
import { sendRow, withdrawalRow } from '../../../venues/perp/ledger.ts';

const USER = `0x${'ab'.repeat(20)}`;
const HOUR = 3_600_000;
const call = () => ({ signal: AbortSignal.timeout(10_000), requestId: 'test' });

interface InfoRequest {
  readonly type: string;
  readonly startTime?: number;
}

let server: Server;
let url: string;
let client: PerpClient;
let requests: InfoRequest[] = [];
/** What is answered: a status and a body. */
let answer: (question: InfoRequest) => readonly [number, unknown] = () => [500, null];
beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const question = JSON.parse(Buffer.concat(parts).toString('utf8')) as InfoRequest;
      requests.push(question);
      const [status, body] = answer(question);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${String(port)}`;
  client = createPerpClient({ url });
});
afterEach(() => {
  requests = [];
});
afterAll(async () => {
  await client.close();
  await new Promise((resolve) => server.close(resolve));
});

test.each([
  ['a venue that does not know the question', 422, 'Failed to deserialize', null],
  [
    'both rails',
    200,
    { depositRoute: 'bridge', withdrawalRoute: 'cctp' },
    { deposit: 'bridge', withdrawal: 'cctp' },
  ],
])('rails: %s', async (_what, status, body, expected) => {
  answer = () => [status, body];
  expect(await client.rails(call())).toEqual(expected);
});

test.each([
  ['one that is no text', 200, { depositRoute: 'bridge', withdrawalRoute: null }],
  ['one that is missing', 200, { depositRoute: 'bridge' }],
  ['nothing', 200, null],
  ['an error', 500, { depositRoute: 'bridge', withdrawalRoute: 'bridge' }],
])('rails that say %s are no open rails', async (_what, status, body) => {
  answer = () => [status, body];
  await expect(client.rails(call())).rejects.toMatchObject({ name: 'ExecutorFault' });
});

/** One row a minute, 500 an answer, from a time on and with that time's again. */
function ledgerOf(count: number) {
  const rows = Array.from({ length: count }, (_, at) => ({
    time: at * 60_000,
    hash: `0x${at.toString(16).padStart(64, '0')}`,
    delta: { type: 'deposit', usdc: '1.0', at },
  }));
  answer = ({ startTime = 0 }) => [200, rows.filter(({ time }) => time >= startTime).slice(0, 500)];
  return rows;
}

test('a ledger is read over its pages, each row once, from the requested time', async () => {
  const rows = ledgerOf(1_200);
  const results = await client.ledger(USER, HOUR, call());
  expect(results.map(({ delta }) => delta['at'])).toEqual(
    rows.slice(60).map(({ delta }) => delta.at),
  );
  expect(requests.map(({ startTime }) => startTime)).toEqual([HOUR, 559 * 60_000, 1_058 * 60_000]);
});

test('nothing is read behind the page that has what is wanted', async () => {
  ledgerOf(20_000);
  const at = (wanted: number) =>
    client.ledger(USER, 0, call(), { isWanted: ({ delta }) => delta['at'] === wanted });
  expect((await at(700)).some(({ delta }) => delta['at'] === 700)).toBe(true);
  expect(requests).toHaveLength(2);
  // An absence in a ledger that was not read to its end is none.
  await expect(at(19_999)).rejects.toMatchObject({ code: 'VENUE_ANSWER_INVALID' });
});

describe('many who look at one ledger at once', () => {
  const OTHER = `0x${'cd'.repeat(20)}`;
  const look = (user: string, since = 2 * HOUR, of = client) =>
    of.ledger(user, since, call(), { shared: true });

  test('share one read, each with its own rows, and a little later too', async () => {
    const own = createPerpClient({ url });
    const rows = ledgerOf(200).map(({ time }) => time);
    const times = [2 * HOUR, 2.4 * HOUR, 2.9 * HOUR];
    const results = await Promise.all(times.map((since) => look(USER, since, own)));
    for (const [at, since] of times.entries())
      expect(results[at]?.map(({ time }) => time)).toEqual(rows.filter((time) => time >= since));
    await look(USER.toUpperCase().replace('X', 'x'), 2.5 * HOUR, own);
    expect(requests).toHaveLength(1);
    // An earlier time, another account, or an absence that counts, needs another read.
    await look(USER, HOUR, own);
    await look(OTHER, 2 * HOUR, own);
    await own.ledger(USER, 2 * HOUR, call());
    expect(requests).toHaveLength(4);
    await own.close();
  });

  test('share no read that ended at what one of them wanted', async () => {
    const own = createPerpClient({ url });
    ledgerOf(1_200);
    await own.ledger(USER, 0, call(), {
      shared: true,
      isWanted: ({ delta }: { delta: object }) => 'at' in delta,
    });
    expect((await look(USER, 0, own)).length).toBe(1_200);
    await own.close();
  });

  test('all get the rate limit, and call the venue once', async () => {
    const own = createPerpClient({ url });
    answer = () => [429, null];
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => look(USER, HOUR, own)),
    );
    expect(requests).toHaveLength(1);
    for (const each of results)
      expect(each).toMatchObject({
        reason: { kind: 'not_yet', code: 'VENUE_RATE_LIMITED', retryAfterSeconds: 15 },
      });
    ledgerOf(60);
    expect(await look(USER, 0, own)).toHaveLength(60);
    await own.close();
  });

  test('ask themselves where the other one fails', async () => {
    const own = createPerpClient({ url });
    let calls = 0;
    answer = () => ((calls += 1), calls === 1 ? [500, null] : [200, []]);
    const results = await Promise.allSettled([look(USER, HOUR, own), look(USER, HOUR, own)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    await own.close();
  });
});

test('a row is that of its nonce, its type and whom it pays', () => {
  const row = (delta: object) => ({
    time: 1,
    hash: '0x1',
    delta: { type: 'send', nonce: 7, destination: USER, amount: '2.50', fee: '0.0', ...delta },
  });
  expect(sendRow([row({})], 7, USER.toUpperCase().replace('X', 'x'))).toEqual({
    received: '2.5',
    fee: '0',
    hash: '0x1',
    time: 1,
  });
  for (const delta of [
    { destination: `0x${'cd'.repeat(20)}` },
    { nonce: 8 },
    { nonce: 7_000 },
    { type: 'withdraw' },
    { amount: 'x' },
  ])
    expect(sendRow([row(delta)], 7, USER)).toBeNull();
  const paid = { type: 'withdraw', usdc: '9.0', nonce: 7_000 };
  expect(withdrawalRow([row(paid)], 7)).toMatchObject({ received: '9' });
  expect(withdrawalRow([row({ ...paid, nonce: 7 })], 7)).toBeNull();
});

describe('the balance of the master', () => {
  const venue = perpVenueSchema.parse({
    venue_key: 'perp',
    provider: 'perp',
    account_role: 'master',
    account: USER,
    url: 'http://127.0.0.1:9',
    network: 'Testnet',
    chain_id: 1,
    deposit_address: USER,
    token: `USDC:0x${'0'.repeat(32)}`,
  });
  const results = async (mode: string, withdrawable: string, accountValue: string) => {
    answer = ({ type }) => [
      200,
      type === 'userAbstraction'
        ? mode
        : { withdrawable, marginSummary: { accountValue }, assetPositions: [{}] },
    ];
    return (await createPerpBalances(venue, client).fetch(call())).pools;
  };
  const pool = { account_type: 'PERP', asset: 'USDC' };

  test('is what may leave, exact and never below zero', async () => {
    expect(await results('default', '584635.8959999999', '600000.0')).toEqual([
      {
        ...pool,
        available: '584635.895999',
        withdrawable: '584635.895999',
        total: '600000',
        details: { open_positions: 1 },
      },
    ]);
    expect(await results('disabled', '-3.5', '-3.5')).toMatchObject([
      { withdrawable: '0', available: '0', total: '0' },
    ]);
  });

  test('of an account that keeps perps and spot together is unknown', async () => {
    expect(await results('unifiedAccount', '12', '12')).toEqual([
      {
        ...pool,
        available: null,
        withdrawable: null,
        total: null,
        details: { mode: 'unifiedAccount' },
      },
    ]);
  });

  test('is none where the venue does not answer', async () => {
    answer = () => [500, null];
    await expect(createPerpBalances(venue, client).fetch(call())).rejects.toMatchObject({
      name: 'ExecutorFault',
    });
  });
});

test('a rate limit of an action leaves its outcome open', async () => {
  answer = () => [429, null];
  await expect(client.send('{}', { ...call(), notAfter: Infinity })).rejects.toMatchObject({
    kind: 'server_error',
    code: 'VENUE_UNAVAILABLE',
  });
});
