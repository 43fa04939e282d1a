/** What the programs' own `fetch` sends and returns, over real sockets. */
import { createServer, Server, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
} from 'node:net';
import { nodeFetch } from '../../clients/command-line/node-fetch.ts';
import { CERTIFICATE, KEY } from '../platform/localhost-certificate.ts';

interface Seen {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let answer: (response: ServerResponse) => void;
let server: Server;
let url: string;
const seen: Seen[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      seen.push({ method: request.method ?? '', headers: request.headers, body });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  seen.length = 0;
});

const FIXED = { credentials: 'omit', redirect: 'manual', cache: 'no-store' } as const;
const call = (method: string, body?: string, signal = AbortSignal.timeout(10_000)) =>
  nodeFetch(`${url}/v3/x?a=1`, {
    ...FIXED,
    method,
    headers: { 'x-one': 'eins' },
    signal,
    ...(body === undefined ? {} : { body: new TextEncoder().encode(body) }),
  });

test.each(['GET', 'POST', 'DELETE', 'PATCH'])('%s arrives whole, as its answer', async (method) => {
  answer = (response) => void response.writeHead(201, { 'X-Request-Id': 'r-1' }).end('{"ü":"€"}');
  const body = method === 'GET' ? undefined : '{"amount":"5","note":"ü€"}';
  const got = await call(method, body);
  expect([got.status, got.headers.get('X-Request-Id'), got.headers.get('none')]).toEqual([
    201,
    'r-1',
    null,
  ]);
  expect(await got.text()).toBe('{"ü":"€"}');
  expect(seen).toMatchObject([{ method, body: body ?? '', headers: { 'x-one': 'eins' } }]);
  if (body !== undefined)
    expect(seen[0]?.headers['content-length']).toBe(String(Buffer.byteLength(body)));
});

test('a redirect is an answer, since a signature is valid for one path', async () => {
  answer = (response) => void response.writeHead(307, { Location: '/elsewhere' }).end();
  expect((await call('POST', '{}')).status).toBe(307);
  expect(seen).toHaveLength(1);
});

test('an answer that ends early is an error, as is a connection that ends without one', async () => {
  answer = (response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('{"half":');
    setImmediate(() => response.destroy());
  };
  await expect(call('POST', '{}')).rejects.toThrow();
  answer = (response) => void response.destroy();
  await expect(call('POST', '{}')).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('a caller who gives up gets an error before the answer, and nothing is sent later', async () => {
  answer = () => undefined;
  await expect(call('GET', undefined, AbortSignal.timeout(100))).rejects.toThrow();
  await expect(call('GET', undefined, AbortSignal.abort())).rejects.toThrow();
  expect(seen).toHaveLength(1);
});

test('a port where nothing listens is named by the code of the system', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  await new Promise((resolve) => other.close(resolve));
  const sent = nodeFetch(`http://127.0.0.1:${String(port)}/`, {
    ...FIXED,
    method: 'GET',
    headers: {},
    signal: AbortSignal.timeout(10_000),
  });
  await expect(sent).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a character that arrives in two parts is one', async () => {
  const bytes = Buffer.from('{"payee":"ü€"}');
  answer = (response) => {
    response.write(bytes.subarray(0, bytes.length - 4));
    setImmediate(() => response.end(bytes.subarray(bytes.length - 4)));
  };
  expect(await (await call('GET')).text()).toBe('{"payee":"ü€"}');
});

/** Starts a server for `work` alone, so that no connection to it is open before. */
async function alone<T>(own: TcpServer, work: (port: number) => Promise<T>): Promise<T> {
  await new Promise<void>((resolve) => own.listen(0, 'localhost', resolve));
  try {
    return await work((own.address() as AddressInfo).port);
  } finally {
    if (own instanceof Server) own.closeAllConnections();
    await new Promise((resolve) => own.close(resolve));
  }
}

const post = (to: string) =>
  nodeFetch(to, {
    ...FIXED,
    method: 'POST',
    headers: {},
    body: new TextEncoder().encode('{}'),
    signal: AbortSignal.timeout(5_000),
  });

describe('the limit of a connect', () => {
  const { setTimeout: real } = globalThis;
  const LIMIT_MS = 10_000;
  beforeEach(() => {
    // The limit as 50 ms, for whoever sets a timer of its length.
    const soon = (work: () => void, ms?: number) => real(work, ms === LIMIT_MS ? 50 : ms);
    globalThis.setTimeout = Object.assign(soon, real);
  });
  afterEach(() => {
    globalThis.setTimeout = real;
  });

  test('ends with the connection: a write whose answer is late may have been taken', async () => {
    const late = createServer((_request, response) => void real(() => response.end('late'), 200));
    const got = await alone(late, (port) => post(`http://localhost:${String(port)}/`));
    expect([got.status, await got.text()]).toEqual([200, 'late']);
  });

  test('holds until TLS is agreed on: before that nothing was sent', async () => {
    const sockets: { destroy(): void }[] = [];
    const silent = createTcpServer((socket) => void sockets.push(socket));
    await alone(silent, async (port) => {
      try {
        const sent = post(`https://localhost:${String(port)}/`);
        await expect(sent).rejects.toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' });
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });
    expect(sockets.length).toBeGreaterThan(0);
  });
});

test('a server whose certificate is not trusted gets no request', async () => {
  let requests = 0;
  const own = createTlsServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => {
    requests += 1;
    response.end();
  });
  const sent = alone(own, (port) => post(`https://localhost:${String(port)}/`));
  await expect(sent).rejects.toMatchObject({ code: expect.stringMatching(/CERT/) as unknown });
  expect(requests).toBe(0);
});
