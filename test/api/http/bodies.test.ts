/** What unsigned requests may use up; signed ones are served beside them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { register } from 'prom-client';
import { createAuthenticator, createRecogniser } from '../../../api/auth/authenticate.ts';
import { createKeyRing } from '../../../api/auth/key-ring.ts';
import { createApi } from '../../../api/app.ts';
import { defineRoute } from '../../../api/http/route.ts';
import { jsonObject, noParams, noQuery } from '../../../api/http/schemas.ts';
import { signatureHeaders } from '../../../clients/http/index.ts';
import { ALL_ROLES, type Caller } from '../../../domain/roles.ts';
import { dependencies, guardOf, send, serve, type Served } from '../support.ts';

const MIB = 1_048_576;
const ROOM = 8 * MIB;
const BLANKS = Buffer.alloc(MIB, 32);
const KEY = { keyId: 'k', secret: 's'.repeat(40) };
const CALLER: Caller = { client_id: 'c', key_id: 'k', role: 'operator' };

const echo = defineRoute({
  id: 'echo',
  method: 'POST',
  power: 'narrows',
  path: '/echo',
  roles: ALL_ROLES,
  tag: 'Test',
  summary: 'test',
  params: noParams,
  query: noQuery,
  body: jsonObject,
  response: jsonObject,
  errors: [],
  handler: ({ body }) =>
    Promise.resolve({ status: 200, body: { fields: Object.keys(body).length } }),
});

let served: Served;
const sockets: Socket[] = [];
beforeAll(async () => {
  const keys = createKeyRing({
    read: (id) => Promise.resolve(id === KEY.keyId ? KEY.secret : null),
  });
  const taken = {
    client_id: 'c',
    role: 'operator',
    authority_key: null,
    fresh: true,
    checked_at: '2027-01-15 08:00:00+00',
  } as const;
  const recognise = createRecogniser({ keys, maxSkewSeconds: 300 });
  const guard = {
    ...guardOf(CALLER),
    recognise: ({ headers }: Parameters<ReturnType<typeof guardOf>['recognise']>[0]) =>
      recognise(headers),
    authenticate: createAuthenticator({
      keys,
      maxSkewSeconds: 300,
      nonces: { take: () => Promise.resolve(taken) },
    }),
  };
  const app = createApi(dependencies({ authEnabled: true }), [echo], {
    guard,
    unverifiedBytes: ROOM,
  });
  served = await serve(app, 100);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await sleep(100);
  expect(await held()).toBe(0);
});
afterAll(() => served.close());

async function held(): Promise<number> {
  const metric = register.getSingleMetric('svc_http_unverified_body_bytes');
  return (await metric?.get())?.values[0]?.value ?? 0;
}

/** Sends so much of a body of 1 MiB and no more; what is answered comes in `text`. */
async function stall(bytes: number, headers: Readonly<Record<string, string>> = {}) {
  const socket = connect(served.port, '127.0.0.1');
  sockets.push(socket);
  const answer = { text: '', socket };
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer.text += chunk;
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST /v3/echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\n${lines.join('')}\r\n`,
  );
  // The same memory for every sender, so that what grows is the server's.
  socket.write(BLANKS.subarray(0, bytes));
  return answer;
}

/** Bytes of buffers that something in this process still holds, whoever counts them. */
function bytesInMemory(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().arrayBuffers;
}

const unanswered = ({ text }: { readonly text: string }): boolean => text === '';

const badlySigned = (timestamp = Math.floor(Date.now() / 1000), key = KEY.keyId) => ({
  'X-SVC-Key-Id': key,
  'X-SVC-Timestamp': String(timestamp),
  'X-SVC-Nonce': 'n',
  'X-SVC-Signature': '0'.repeat(64),
});

/** Served, with a body that is nearly as large as one may be. */
async function signedIsServed(): Promise<void> {
  const body = JSON.stringify({ note: 'x'.repeat(900_000) });
  const url = `${served.url}/v3/echo`;
  const headers = await signatureHeaders(KEY, { method: 'POST', url, body });
  const answer = await send(url, {
    method: 'POST',
    body,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  expect([answer.status, answer.body]).toEqual([200, { fields: 1 }]);
}

test.each([
  ['without a signature', () => ({})],
  ['of an unknown key', () => badlySigned(undefined, 'unknown')],
  ['of another time', () => badlySigned(1_000_000_000)],
])('60 large bodies %s are refused unread', async (_what, headers) => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => stall(MIB / 2, headers())));
  for (let look = 0; look < 100 && answers.some(unanswered); look += 1) await sleep(50);
  expect(answers.map(({ text }) => text.slice(0, 12))).toEqual(answers.map(() => 'HTTP/1.1 401'));
  expect(await held()).toBe(0);
  await signedIsServed();
});

test('60 large bodies that never end take what is set aside for them, and signed requests are served', async () => {
  const before = bytesInMemory();
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => stall(MIB - 1, badlySigned())),
  );
  for (let look = 0; look < 20; look += 1) {
    await sleep(50);
    expect(await held()).toBeLessThanOrEqual(ROOM);
  }
  // Beside what is set aside, a read that is under way on each connection.
  expect(bytesInMemory() - before).toBeLessThan(ROOM + 60 * 65_536);
  await signedIsServed();
  for (let look = 0; look < 100 && answers.filter(unanswered).length > ROOM / MIB; look += 1)
    await sleep(50);
  const refused = answers.filter((each) => !unanswered(each));
  expect(refused.length).toBeGreaterThanOrEqual(60 - ROOM / MIB);
  for (const { text } of refused)
    expect(text).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: [123]\r\n[^]*"overloaded"/);
});

test('a connection too many is closed, and those before it are served', async () => {
  const open = await Promise.all(Array.from({ length: 100 }, () => stall(0)));
  const last = connect(served.port, '127.0.0.1').on('error', () => undefined);
  await once(last.resume(), 'close');
  const [one] = open;
  for (let look = 0; look < 40 && one?.text === ''; look += 1) await sleep(50);
  expect(one?.text).toMatch(/^HTTP\/1\.1 401 /);
});
