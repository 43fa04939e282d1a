/** What of a venue's answers is believed, over HTTP; its answers are written out here. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createPerpClient, type PerpClient } from '../../../venues/perp/client.ts';

const USER = `0x${'ab'.repeat(20)}`;
const HOUR = 3_600_000;
const call = () => ({ signal: AbortSignal.timeout(10_000), requestId: 'test' });

interface Asked {
  readonly type: string;
  readonly startTime?: number;
}

let server: Server;
let client: PerpClient;
let asked: Asked[] = [];
/** What is answered: a status and a body. */
let answer: (question: Asked) => readonly [number, unknown] = () => [500, null];
beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const question = JSON.parse(Buffer.concat(parts).toString('utf8')) as Asked;
      asked.push(question);
      const [status, body] = answer(question);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = createPerpClient({ url: `http://127.0.0.1:${String(port)}` });
});
afterEach(() => {
  asked = [];
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
    ...{ time: at * 60_000, hash: `0x${at.toString(16).padStart(64, '0')}` },
    delta: { type: 'deposit', usdc: '1.0', at },
  }));
  answer = ({ startTime = 0 }) => [200, rows.filter(({ time }) => time >= startTime).slice(0, 500)];
  return rows;
}

test('a ledger is read over its pages, each row once, from when it was asked for', async () => {
  const rows = ledgerOf(1_200);
  const told = await client.ledger(USER, HOUR, call());
  expect(told.map(({ delta }) => delta['at'])).toEqual(rows.slice(60).map(({ delta }) => delta.at));
  expect(asked.map(({ startTime }) => startTime)).toEqual([
    ...[HOUR, 559 * 60_000, 1_058 * 60_000],
  ]);
});

test('nothing is read behind the page that has what is wanted', async () => {
  ledgerOf(20_000);
  const at = (wanted: number) =>
    client.ledger(USER, 0, call(), ({ delta }) => delta['at'] === wanted);
  expect((await at(700)).some(({ delta }) => delta['at'] === 700)).toBe(true);
  expect(asked).toHaveLength(2);
  // An absence in a ledger that was not read to its end is none.
  await expect(at(19_999)).rejects.toMatchObject({ code: 'VENUE_ANSWER_INVALID' });
});
