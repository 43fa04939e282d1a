/** What the attester's answers come to, over HTTP. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  BACK_OFF_SECONDS,
  createAttester,
  type Attester,
} from '../../../venues/burn-mint/attester.ts';

const TRANSACTION = `0x${'ab'.repeat(32)}` as const;
const NONCE = `0x${'cd'.repeat(32)}` as const;
const call = { signal: new AbortController().signal };

let server: Server;
let requests: string[] = [];
let answer: { status: number; body: unknown };
let attester: Attester;
let now = 1_800_000_000_000;
const venue = () => ({
  domain: 6,
  attester_url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
});

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  requests = [];
  answer = { status: 200, body: { messages: [] } };
  attester = createAttester(() => now);
});
afterEach(() => attester.close());
afterAll(() => server.close());

const messages = () => attester.messagesOf(venue(), TRANSACTION, call);

test('asks by domain and transaction, and gives what is complete', async () => {
  answer.body = {
    messages: [
      { status: 'pending_confirmations', message: '0x', attestation: 'PENDING' },
      { status: 'complete', message: '0x0102', attestation: '0x0304', eventNonce: NONCE },
      { status: 'complete', message: null, attestation: null },
      { status: 'complete', message: '0x0102', attestation: '0x' },
    ],
  };
  expect(await messages()).toEqual([{ message: '0x0102', attestation: '0x0304' }]);
  expect(requests).toEqual([`GET /v2/messages/6?transactionHash=${TRANSACTION}`]);
});

test.each([
  ['404', { status: 404, body: { error: 'Message not found' } }],
  ['an empty list', { status: 200, body: { messages: [] } }],
  [
    'pending',
    { status: 200, body: { messages: [{ status: 'pending_confirmations', message: '0x00' }] } },
  ],
])('%s is not yet', async (_name, reply) => {
  answer = reply;
  expect(await messages()).toEqual([]);
});

test.each([
  ['an error', { status: 500, body: {} }, 'ATTESTER_UNAVAILABLE'],
  ['another answer', { status: 200, body: { data: [] } }, 'ATTESTER_UNAVAILABLE'],
  ['a redirect', { status: 302, body: {} }, 'ATTESTER_UNAVAILABLE'],
])('%s is a retryable fault', async (_name, reply, code) => {
  answer = reply;
  await expect(messages()).rejects.toMatchObject({ kind: 'server_error', code });
});

test('after "too many" nothing is sent for five minutes', async () => {
  answer = { status: 429, body: {} };
  await expect(messages()).rejects.toMatchObject({ code: 'ATTESTER_LIMITS' });
  answer = { status: 200, body: { messages: [] } };
  now += BACK_OFF_SECONDS * 1_000 - 1;
  await expect(messages()).rejects.toMatchObject({ code: 'ATTESTER_LIMITS' });
  await expect(attester.reattest(venue(), NONCE, call)).rejects.toMatchObject({
    code: 'ATTESTER_LIMITS',
  });
  expect(requests).toHaveLength(1);
  now += 1;
  expect(await messages()).toEqual([]);
  expect(requests).toHaveLength(2);
});

test('an expired attestation is requested again by its nonce', async () => {
  answer = { status: 200, body: { message: 'ok' } };
  await attester.reattest(venue(), NONCE, call);
  expect(requests).toEqual([`POST /v2/reattest/${NONCE}`]);
  answer = { status: 400, body: {} };
  await expect(attester.reattest(venue(), NONCE, call)).rejects.toMatchObject({
    code: 'ATTESTER_UNAVAILABLE',
  });
});
