/**
 * Connections that are slow, greedy or malformed are answered once and cut; the others do not
 * notice.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import express from 'express';
import { createOps } from '../../../api/operations/listener.ts';
import {
  KEPT_SECONDS,
  LIMITS,
  listen,
  REQUESTS_A_CONNECTION,
  type Listening,
} from '../../../api/http/server.ts';

const SHORT = {
  headersTimeout: 300,
  requestTimeout: 700,
  connectionsCheckingInterval: 50,
  keepAliveTimeout: 200,
};

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

/** Writes each part after its pause and reads until the server hangs up; answers what it said. */
async function talk(
  port: number,
  parts: readonly (readonly [afterMs: number, text: string])[],
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
  socket.on('error', () => undefined);
  const timers = parts.map(([afterMs, text]) =>
    setTimeout(() => socket.writable && socket.write(text), afterMs),
  );
  await new Promise((resolve) => socket.on('close', resolve));
  timers.forEach(clearTimeout);
  return said;
}

const drip = (text: string, everyMs: number) =>
  [...text].map((letter, index) => [index * everyMs, letter] as const);

async function answersOthers(): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${served.port}/`)).ok;
}

test('headers have 10 s, requests 30 s, and headers 16 KiB', () => {
  expect(LIMITS).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    maxHeaderSize: 16_384,
  });
});

test('headers that come letter by letter end in 408', async () => {
  const slow = talk(
    served.port,
    drip('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaa', 30),
  );
  expect(await answersOthers()).toBe(true);
  const said = await slow;
  expect(said).toMatch(
    /^HTTP\/1.1 408 [\s\S]*Connection: close[\s\S]*X-Request-Id: [\s\S]*"detail":{"error":"request_timeout"/,
  );
});

test('a body that comes letter by letter is cut', async () => {
  const head =
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
  const slow = talk(served.port, [[0, head], ...drip('a'.repeat(60), 40)]);
  expect(await answersOthers()).toBe(true);
  const said = await slow;
  expect(said).toMatch(/^HTTP\/1.1 408 /);
});

test('many headers are 431 as one large one is', async () => {
  const headers = Array.from({ length: 1_500 }, (_, index) => `X-${String(index)}: aaaaaaaa`).join(
    '\r\n',
  );
  const said = await talk(served.port, [[0, `GET / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`]]);
  expect(said).toMatch(/^HTTP\/1.1 431 [\s\S]*"detail":{"error":"headers_too_large"/);
});

test.each([
  'NONSENSE\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  '\u0016\u0003\u0001\r\n\r\n',
])('what is not HTTP, or two things at once, is 400: %j', async (text) => {
  const said = await talk(served.port, [[0, text]]);
  expect(said).toMatch(/^HTTP\/1.1 400 [\s\S]*Connection: close/);
  expect(said.match(/HTTP\/1.1/g)).toHaveLength(1);
});

test('a connection that pipelines without end gets so many answers and no more', async () => {
  most = 0;
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const said = await talk(served.port, [[0, request.repeat(REQUESTS_A_CONNECTION + 500)]]);
  expect(said.match(/HTTP\/1.1 200/g)).toHaveLength(REQUESTS_A_CONNECTION);
  expect(most).toBeLessThanOrEqual(REQUESTS_A_CONNECTION);
  expect(await answersOthers()).toBe(true);
});

test('an idle connection is closed', async () => {
  const said = await talk(served.port, [[0, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n']]);
  expect(said).toMatch(/^HTTP\/1.1 200/);
});

test('callers see a shorter keep-alive than an idle connection is kept', async () => {
  const { headers } = await fetch(`http://127.0.0.1:${served.port}/`);
  expect(headers.get('keep-alive')).toBe(`timeout=${KEPT_SECONDS}`);
  expect(LIMITS.keepAliveTimeout).toBeGreaterThan(KEPT_SECONDS * 1_000 + 5_000);
});

describe('a process that was busy while its clocks ran out', () => {
  /**
   * Blocks this process until the caller has written its bytes into the kernel, and then for longer
   * than every time limit.
   */
  function blockUntilWritten({ flags }: Caller): void {
    Atomics.store(flags, 0, 1);
    Atomics.notify(flags, 0);
    if (Atomics.wait(flags, 1, 0, 10_000) === 'timed-out')
      throw new Error('the caller did not write');
    Atomics.wait(flags, 2, 0, SHORT.keepAliveTimeout + SHORT.requestTimeout + 1_500);
  }

  interface Caller {
    readonly flags: Int32Array;
    /** What the caller got: the status lines, and how the connection ended. */
    readonly got: Promise<readonly string[]>;
  }

  /**
   * A caller with a loop of its own: sends the first part, and the second when it is notified (once
   * the first was answered, if it is a request), so that only the one in this process is blocked.
   */
  function caller(port: number, first: string, second: string): Caller {
    const flags = new Int32Array(new SharedArrayBuffer(12));
    const code = `
      const { workerData: { flags, port, first, second }, parentPort } = require('node:worker_threads');
      const got = [];
      const socket = require('node:net').connect(port, '127.0.0.1', () => {
        if (first !== '') socket.write(first);
        if (!first.endsWith('END')) write();
      });
      const write = () => {
        Atomics.wait(flags, 0, 0);
        socket.write(second, () => { Atomics.store(flags, 1, 1); Atomics.notify(flags, 1); });
      };
      socket.on('data', (data) => {
        got.push(data.toString().split('\\r\\n')[0]);
        if (first.endsWith('END') && got.length === 1) write(); else socket.end();
      });
      socket.on('error', (error) => got.push(error.message));
      socket.on('close', () => parentPort.postMessage(got));`;
    const worker = new Worker(code, { eval: true, workerData: { flags, port, first, second } });
    return {
      flags,
      got: new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject)),
    };
  }

  const request = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nEND';

  /** Calls back once, with the channel's next message about the server. */
  function onceNoticed(
    channel: string,
    isIt: (message: { request?: IncomingMessage; socket?: Socket }) => boolean,
    then: () => void,
  ): void {
    const onNotice = (message: unknown): void => {
      if (!isIt(message as { request?: IncomingMessage; socket?: Socket })) return;
      unsubscribe(channel, onNotice);
      setImmediate(then);
    };
    subscribe(channel, onNotice);
  }

  test('answers the request that has arrived on an idle connection', async () => {
    const idle = caller(served.port, request, request);
    onceNoticed(
      'http.server.response.finish',
      ({ request: { socket } = {} }) => socket?.localPort === served.port,
      () => {
        blockUntilWritten(idle);
      },
    );
    expect(await idle.got).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']);
  });

  test('answers the first request of a connection that it had not read from yet', async () => {
    const fresh = caller(served.port, '', request);
    onceNoticed(
      'net.server.socket',
      ({ socket }) => socket?.localPort === served.port,
      () => {
        blockUntilWritten(fresh);
      },
    );
    expect(await fresh.got).toEqual(['HTTP/1.1 200 OK']);
  });

  test('answers the request whose body has arrived meanwhile', async () => {
    const [head = '', body = ''] = request.split('END');
    const halfway = caller(served.port, head, `${body}END`);
    onceNoticed(
      'http.server.request.start',
      ({ request: { socket } = {} }) => socket?.localPort === served.port,
      () => {
        blockUntilWritten(halfway);
      },
    );
    expect(await halfway.got).toEqual(['HTTP/1.1 200 OK']);
  });
});

test('pages of the operations listener may not be framed, sniffed or filled with foreign scripts', async () => {
  const ops = await listen({
    app: createOps({ checks: {}, openapi: {}, signing: '' }),
    host: '127.0.0.1',
    port: 0,
  });
  const { headers } = await fetch(`http://127.0.0.1:${ops.port}/docs/`);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('SAMEORIGIN');
  expect(headers.get('content-security-policy')).toMatch(/default-src|script-src/);
  expect(headers.get('x-powered-by')).toBeNull();
  await ops.close();
});
