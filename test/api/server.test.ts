/** Connections that are slow, greedy or malformed are answered once and cut; the others do not notice. */
import { connect } from 'node:net';
import express from 'express';
import { createOps } from '../../api/ops.ts';
import { LIMITS, listen, REQUESTS_A_CONNECTION, type Listening } from '../../api/server.ts';

const SHORT = { headersTimeout: 300, requestTimeout: 700, connectionsCheckingInterval: 50, keepAliveTimeout: 200 };

let served: Listening;
let running = 0;
let most = 0;
beforeAll(async () => {
  const app = express();
  app.use(express.raw({ type: () => true, limit: 1_000 }));
  app.use(async (_request, response) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 50));
    running -= 1;
    response.json({ ok: true });
  });
  served = await listen({ app, host: '127.0.0.1', port: 0, limits: SHORT });
});
afterAll(() => served.close());

interface Talk {
  readonly said: string;
  readonly ms: number;
}

/** Writes each part after its pause and reads until the server hangs up. */
async function talk(port: number, parts: readonly (readonly [afterMs: number, text: string])[]): Promise<Talk> {
  const socket = connect(port, '127.0.0.1');
  const begun = Date.now();
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
  socket.on('error', () => undefined);
  const timers = parts.map(([afterMs, text]) => setTimeout(() => socket.writable && socket.write(text), afterMs));
  await new Promise((resolve) => socket.on('close', resolve));
  timers.forEach(clearTimeout);
  return { said, ms: Date.now() - begun };
}

const drip = (text: string, everyMs: number) => [...text].map((letter, index) => [index * everyMs, letter] as const);

async function answersOthers(): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${served.port}/`)).ok;
}

test('headers have 10 s, requests 30 s, and headers 16 KiB', () => {
  expect(LIMITS).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000, maxHeaderSize: 16_384 });
});

test('headers that come letter by letter end in 408', async () => {
  const slow = talk(served.port, drip('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaa', 30));
  expect(await answersOthers()).toBe(true);
  const { said, ms } = await slow;
  expect(said).toMatch(/^HTTP\/1.1 408 [\s\S]*Connection: close[\s\S]*X-Request-Id: [\s\S]*"detail":{"error":"request_timeout"/);
  expect(ms).toBeLessThan(3_000);
});

test('a body that comes letter by letter is cut', async () => {
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
  const slow = talk(served.port, [[0, head], ...drip('a'.repeat(60), 40)]);
  expect(await answersOthers()).toBe(true);
  const { said, ms } = await slow;
  expect(said).toMatch(/^HTTP\/1.1 408 /);
  expect(ms).toBeLessThan(4_000);
});

test('many headers are 431 as one large one is', async () => {
  const headers = Array.from({ length: 1_500 }, (_, index) => `X-${String(index)}: aaaaaaaa`).join('\r\n');
  const { said } = await talk(served.port, [[0, `GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`]]);
  expect(said).toMatch(/^HTTP\/1.1 431 [\s\S]*"detail":{"error":"headers_too_large"/);
});

test.each([
  'NONSENSE\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  '\u0016\u0003\u0001\r\n\r\n',
])('what is not HTTP, or two things at once, is 400: %j', async (text) => {
  const { said } = await talk(served.port, [[0, text]]);
  expect(said).toMatch(/^HTTP\/1.1 400 [\s\S]*Connection: close/);
  expect(said.match(/HTTP\/1.1/g)).toHaveLength(1);
});

test('a connection that pipelines without end gets so many answers and no more', async () => {
  most = 0;
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const { said } = await talk(served.port, [[0, request.repeat(REQUESTS_A_CONNECTION + 500)]]);
  expect(said.match(/HTTP\/1.1 200/g)).toHaveLength(REQUESTS_A_CONNECTION);
  expect(most).toBeLessThanOrEqual(REQUESTS_A_CONNECTION);
  expect(await answersOthers()).toBe(true);
}, 30_000);

test('an idle connection is closed', async () => {
  const { said, ms } = await talk(served.port, [[0, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n']]);
  expect(said).toMatch(/^HTTP\/1.1 200/);
  expect(ms).toBeLessThan(4_000);
});

test('pages of the operations listener may not be framed, sniffed or filled with foreign scripts', async () => {
  const ops = await listen({ app: createOps({ checks: {}, openapi: {}, signing: '' }), host: '127.0.0.1', port: 0 });
  const { headers } = await fetch(`http://127.0.0.1:${ops.port}/docs/`);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
  expect(headers.get('content-security-policy')).toMatch(/default-src|script-src/);
  expect(headers.get('x-powered-by')).toBeNull();
  await ops.close();
});
