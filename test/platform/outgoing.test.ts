/** The guarded POST: what it calls, what it refuses to call, and how long it waits. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildConnector } from 'undici';
import type { Resolve } from '../../platform/outgoing/addresses.ts';
import { guardedPost, type PostSettings } from '../../platform/outgoing/post.ts';
import { CERTIFICATE, KEY } from './localhost-certificate.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A server on this machine that counts what reaches it. */
async function local(
  answer: RequestListener,
): Promise<{ readonly port: number; readonly requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const port = await listening(
    createServer((request, response) => {
      requests.push(request);
      request.resume();
      answer(request, response);
    }),
  );
  return { port, requests };
}

const LISTED = ['127.0.0.1', 'localhost', 'hooks.test', '93.184.215.14'];
const send = (url: string, settings: PostSettings = {}, allowed = LISTED) =>
  guardedPost(
    { url, headers: { 'x-own': 'yes' }, body: '{"größe":1}', allowedHosts: new Set(allowed) },
    settings,
  );

/** Connects nowhere and notes where it would have gone. */
function recordingConnector() {
  const dialled: string[] = [];
  const connector =
    (lookup: LookupFunction): buildConnector.connector =>
    (target, callback) => {
      lookup(target.hostname, { all: true }, (_error, addresses) => {
        const all = typeof addresses === 'string' ? [{ address: addresses }] : addresses;
        dialled.push(...all.map(({ address }) => address));
        callback(new Error('not dialled in a test'), null);
      });
    };
  return { dialled, connector };
}

describe('a listed address of this machine', () => {
  test('is called once, with body and headers of the caller', async () => {
    let body = '';
    const { port, requests } = await local((request, response) => {
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => response.writeHead(204).end());
    });
    expect(await send(`http://127.0.0.1:${port}/path?a=b`)).toEqual({
      kind: 'answered',
      status: 204,
    });
    expect(
      requests.map(({ method, url, headers }) => [method, url, headers['x-own'], headers.host]),
    ).toEqual([['POST', '/path?a=b', 'yes', `127.0.0.1:${port}`]]);
    expect(body).toBe('{"größe":1}');
  });

  test.each([301, 302, 303, 307, 308])('answering %d is not followed', async (status) => {
    const elsewhere = await local((_request, response) => response.end());
    const { port } = await local((_request, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${elsewhere.port}/` }).end(),
    );
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ kind: 'answered', status });
    expect(elsewhere.requests).toHaveLength(0);
  });

  test('is called without the proxy that the environment names', async () => {
    const proxy = await local((_request, response) => response.end());
    const { port, requests } = await local((_request, response) => response.end());
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    for (const name of names)
      process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${proxy.port}`;
    try {
      expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ kind: 'answered', status: 200 });
    } finally {
      for (const name of names) delete process.env[name];
    }
    expect([requests.length, proxy.requests.length]).toEqual([1, 0]);
  });

  test('without a listener is a failure that names the cause', async () => {
    const { port } = await local((_request, response) => response.end());
    await new Promise((resolve) => servers.at(-1)?.close(resolve));
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({
      kind: 'failed',
      reason: 'connection_failed: ECONNREFUSED',
    });
  });
});

describe('an address that may not be called', () => {
  test.each([
    ['http://127.0.0.1:PORT/', ['localhost'], 'host_not_allowed'],
    ['http://localhost:PORT/', ['127.0.0.1'], 'host_not_allowed'],
    ['http://hooks.test:PORT/', ['hooks.test'], 'scheme_not_allowed'],
    ['http://[::ffff:127.0.0.1]:PORT/', ['[::ffff:7f00:1]'], 'scheme_not_allowed'],
  ])('%s with %j listed is refused without a request: %s', async (url, allowed, reason) => {
    const { port, requests } = await local((_request, response) => response.end());
    expect(await send(url.replace('PORT', String(port)), {}, allowed)).toEqual({
      kind: 'refused',
      reason,
    });
    expect(requests).toHaveLength(0);
  });

  test.each([
    ['private', ['10.0.0.5']],
    ['this machine', ['127.0.0.1']],
    ['link-local', ['169.254.169.254']],
    ['mapped', ['::ffff:127.0.0.1']],
    ['local IPv6', ['fd00::1']],
    ['a public and a private one', ['93.184.215.14', '10.0.0.5']],
    ['none', []],
  ])('a listed name that leads to %s is not called', async (_what, addresses) => {
    const { dialled, connector } = recordingConnector();
    const resolve: Resolve = async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    expect(await send('https://hooks.test/', { resolve, connector })).toEqual({
      kind: 'failed',
      reason: 'address_not_allowed',
    });
    expect(dialled).toEqual([]);
  });

  test('a listed name does not get to a listed private address either', async () => {
    const { dialled, connector } = recordingConnector();
    const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    expect(
      await send('https://hooks.test/', { resolve, connector }, ['hooks.test', '127.0.0.1']),
    ).toMatchObject({ kind: 'failed' });
    expect(dialled).toEqual([]);
  });

  test('localhost that leads elsewhere is not called', async () => {
    const { dialled, connector } = recordingConnector();
    const resolve: Resolve = async () => [{ address: '10.0.0.5', family: 4 }];
    expect(await send('http://localhost/', { resolve, connector })).toEqual({
      kind: 'failed',
      reason: 'address_not_allowed',
    });
    expect(dialled).toEqual([]);
  });
});

test('a name that answers a public address first and this machine next is looked up once, and only the first is dialled', async () => {
  const { port, requests } = await local((_request, response) => response.end());
  const { dialled, connector } = recordingConnector();
  let lookUps = 0;
  const resolve: Resolve = async () => {
    lookUps += 1;
    return [{ address: lookUps === 1 ? '93.184.215.14' : '127.0.0.1', family: 4 }];
  };
  expect(await send(`https://hooks.test:${port}/`, { resolve, connector })).toMatchObject({
    kind: 'failed',
  });
  expect({ lookUps, dialled, requests: requests.length }).toEqual({
    lookUps: 1,
    dialled: ['93.184.215.14'],
    requests: 0,
  });
});

test('the connection goes to the address that was checked, whatever the name means to the system', async () => {
  const { port, requests } = await local((_request, response) => response.end());
  const resolve: Resolve = async () => [{ address: '127.0.0.9', family: 4 }];
  expect(await send(`http://localhost:${port}/`, { resolve, limitMs: 500 })).toMatchObject({
    kind: 'failed',
  });
  expect(requests).toHaveLength(0);
});

describe('over TLS', () => {
  const trusted = (lookup: LookupFunction): buildConnector.connector =>
    buildConnector({ lookup, ca: CERTIFICATE });
  const secure = async (): Promise<{ readonly port: number; readonly names: unknown[] }> => {
    const names: unknown[] = [];
    const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      request.resume();
      response.writeHead(204).end();
    });
    server.on('secureConnection', (socket) => names.push(Reflect.get(socket, 'servername')));
    return { port: await listening(server), names };
  };
  const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

  test('the requested name is the verified name', async () => {
    const { port, names } = await secure();
    expect(await send(`https://localhost:${port}/`, { resolve, connector: trusted })).toEqual({
      kind: 'answered',
      status: 204,
    });
    expect(names).toEqual(['localhost']);
  });

  test('a certificate of another name, or of an unknown issuer, is not accepted', async () => {
    const { port } = await secure();
    expect(await send(`https://127.0.0.1:${port}/`, { connector: trusted })).toEqual({
      kind: 'failed',
      reason: 'connection_failed: ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(await send(`https://localhost:${port}/`, { resolve })).toEqual({
      kind: 'failed',
      reason: 'connection_failed: DEPTH_ZERO_SELF_SIGNED_CERT',
    });
  });
});

describe('the time', () => {
  const limited = { limitMs: 300 };
  const timeOut = { kind: 'failed', reason: 'timeout' };

  test('for an answer ends', async () => {
    const { port } = await local(() => undefined);
    expect(await send(`http://127.0.0.1:${port}/`, limited)).toEqual(timeOut);
  });

  test('for looking a name up ends', async () => {
    const resolve: Resolve = () => sleep(2_000, [], { ref: false });
    expect(await send('https://hooks.test/', { ...limited, resolve })).toEqual(timeOut);
  });

  test('for headers that come one by one ends', async () => {
    const { port } = await local((_request, response) => {
      const socket = response.socket;
      socket?.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket?.write('x-more: 1\r\n'), 50);
      socket?.on('error', () => undefined).on('close', () => clearInterval(timer));
    });
    expect(await send(`http://127.0.0.1:${port}/`, limited)).toEqual(timeOut);
  });

  test('for an endless body is short, since it is not used', async () => {
    const { port } = await local((_request, response) => void response.writeHead(200).write('x'));
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ kind: 'answered', status: 200 });
  });
});

test('an endless answer is cut off at once', async () => {
  const chunk = Buffer.alloc(65_536);
  let written = 0;
  let closed = false;
  const { port } = await local((_request, response) => {
    const more = (): void => {
      do written += chunk.length;
      while (!closed && response.write(chunk));
    };
    response.on('drain', more).on('close', () => (closed = true));
    response.writeHead(200);
    more();
  });
  expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ kind: 'answered', status: 200 });
  await sleep(100);
  expect(closed).toBe(true);
  // What the sockets hold by themselves; reading on for a second would be hundreds of megabytes.
  expect(written).toBeLessThan(16_000_000);
});

test('a malformed answer is a failure', async () => {
  const { port } = await local(
    (_request, response) => void response.socket?.end('nonsense\r\n\r\n'),
  );
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({
    kind: 'failed',
    reason: expect.stringMatching(/^connection_failed/),
  });
});
