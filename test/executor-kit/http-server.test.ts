/** The kit's server, spoken to by the client that the service uses, and by others. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { createRemoteExecutor } from '../../executors/remote.ts';
import {
  accepted,
  Rejected,
  Unavailable,
  type DefinedExecutor,
} from '../../executor-kit/define.ts';
import { serveExecutor, type ServedExecutor, type ServeOptions } from '../../executor-kit/http.ts';
import { contextOf, settingsOf } from '../executors/fake-server.ts';
import { memoryExecutor } from './support/memory-executor.ts';

jest.setTimeout(60_000);

const call = { signal: new AbortController().signal };
const journal = {
  transactions: async () => [],
  releaseNonce: async () => true,
  displaced: async () => false,
  held: async () => null,
  accepted: async () => undefined,
};
let served: ServedExecutor | undefined;
let logged: string[] = [];

async function serve(
  executor: DefinedExecutor = memoryExecutor(),
  options: Partial<ServeOptions> = {},
): Promise<ServedExecutor> {
  logged = [];
  served = await serveExecutor(executor, {
    port: 0,
    log: (line) => void logged.push(line),
    ...options,
  });
  return served;
}
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

async function post(
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) {
  const answer = await fetch(url, { method: 'POST', body, headers });
  const text = await answer.text();
  return {
    status: answer.status,
    body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>),
    headers: answer.headers,
  };
}

test('every phase is served to the client of the service', async () => {
  const { url } = await serve();
  const client = createRemoteExecutor(settingsOf(url));
  const context = contextOf();
  expect(await client.health(call)).toEqual({ state: 'up' });
  expect(await client.preflight(context, call)).toBeNull();
  expect(await client.recover(context, call, journal)).toEqual({ next_state: 'READY' });
  const { prepared_action = {} } = await client.prepare(context, call);
  const sent = await client.submit({ context, prepared_action, journal }, call);
  expect(sent).toMatchObject({ next_state: 'SUBMITTED', external_ref: expect.any(String) });
  for (const phase of ['observe', 'recover'] as const) {
    expect(await client[phase](context, call, journal)).toEqual({
      next_state: 'COMPLETED',
      external_ref: sent.external_ref,
    });
  }
  expect(await client.cancel(context, call)).toMatchObject({ next_state: 'COMPLETED' });
  await client.close();
});

test('submit gets its prepared action checked and the signature, and what is unknown is left alone', async () => {
  const seen: unknown[] = [];
  const { url } = await serve(
    memoryExecutor(() => ({
      submit: async ({ prepared, sign_result }) => {
        seen.push(prepared, sign_result);
        return accepted('r');
      },
    })),
  );
  const context = { ...contextOf(), later: 1 };
  const body = {
    context,
    prepared_action: { amount: '1' },
    sign_result: { raw_tx: '0x' },
    extra: true,
  };
  expect((await post(`${url}/submit`, JSON.stringify(body))).status).toBe(200);
  expect(seen).toEqual([{ amount: '1' }, { raw_tx: '0x' }]);
  const wrong = await post(
    `${url}/submit`,
    JSON.stringify({ ...body, prepared_action: { amount: 1 } }),
  );
  expect(wrong).toMatchObject({ status: 422, body: { error_code: 'INVALID_REQUEST' } });
  expect(wrong.body?.['error_message']).toMatch(/prepared_action\.amount/);
});

test('rubbish is the fault of the caller, each kind with its status', async () => {
  const { url } = await serve(memoryExecutor(), { maxBodyBytes: 2_000 });
  expect(await post(`${url}/prepare`, '{')).toMatchObject({
    status: 400,
    body: { error_code: 'INVALID_JSON' },
  });
  expect((await post(`${url}/prepare`, new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
  expect((await post(`${url}/prepare`, '{}')).status).toBe(422);
  expect((await post(`${url}/prepare`, JSON.stringify({ a: 'x'.repeat(3_000) }))).status).toBe(413);
  expect(
    (await post(`${url}/prepare`, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }))
      .status,
  ).toBe(415);
  expect((await post(`${url}/pay`, '{}')).status).toBe(404);
  expect((await post(`${url}/%`, '{}')).status).toBe(400);
  const get = await fetch(`${url}/submit`);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  expect((await post(`${url}/health`, '{}')).status).toBe(405);
  expect(logged).toEqual([]);
});

test('a body without a declared length is cut off at the limit', async () => {
  const { port } = await serve(memoryExecutor(), { maxBodyBytes: 2_000 });
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const request = plainRequest({ port, path: '/prepare', method: 'POST' }, (response) =>
      resolve(response.statusCode),
    );
    request.on('error', reject);
    request.write('x'.repeat(3_000));
  });
  expect(status).toBe(413);
});

test('what a phase throws becomes a status, and only the log has the words of an accident', async () => {
  const thrown: Error[] = [
    new Rejected('KEY_REUSED', 'used before', 409),
    new Unavailable('the bank is closed', 1.5),
    new Error('password of the database'),
  ];
  const { url } = await serve(
    memoryExecutor(() => ({
      prepare: async () => {
        throw thrown.shift() ?? new Error('nothing left');
      },
    })),
  );
  const body = JSON.stringify(contextOf());
  expect(await post(`${url}/prepare`, body)).toMatchObject({
    status: 409,
    body: { error_code: 'KEY_REUSED', error_message: 'used before' },
  });
  const closed = await post(`${url}/prepare`, body);
  expect([closed.status, closed.headers.get('retry-after')]).toEqual([503, '2']);
  expect(logged).toEqual(['POST /prepare: Unavailable: the bank is closed']);
  const accident = await post(`${url}/prepare`, body);
  expect(accident).toMatchObject({ status: 500, body: { error_message: 'the executor failed' } });
  expect(logged[1]).toMatch(/password/);
});

test('an answer that the protocol does not have never leaves the server', async () => {
  const sound = memoryExecutor();
  const { url } = await serve(
    memoryExecutor((_, definition) => ({
      ...definition,
      prepare: async () => ({
        ...(await definition.prepare(contextOf(), call)),
        prepared_action: { amount: 'x'.repeat(300_000) },
      }),
    })),
  );
  expect((await post(`${url}/prepare`, JSON.stringify(contextOf()))).status).toBe(500);
  expect(logged[0]).toMatch(/answer to prepare does not fit: prepared_action/);
  expect(sound.name).toBe('in memory');
});

test('with a token file every route asks for the token, and a new token holds at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'token-'));
  const authTokenFile = join(folder, 'token');
  await expect(serve(memoryExecutor(), { authTokenFile })).rejects.toThrow();
  writeFileSync(authTokenFile, ' \n');
  await expect(serve(memoryExecutor(), { authTokenFile })).rejects.toThrow('no usable token');
  writeFileSync(authTokenFile, 'first\n');
  const { url } = await serve(memoryExecutor(), { authTokenFile });
  const status = async (path: string, authorization?: string) =>
    (
      await fetch(`${url}${path}`, {
        method: path === '/health' ? 'GET' : 'POST',
        headers: authorization === undefined ? {} : { authorization },
      })
    ).status;
  for (const path of ['/health', '/submit', '/nothing']) {
    for (const header of [
      undefined,
      'Bearer',
      'Bearer firs',
      'Bearer first2',
      'Basic first',
      'first',
    ]) {
      expect([path, header, await status(path, header)]).toEqual([path, header, 401]);
    }
  }
  expect(await status('/health', 'Bearer first')).toBe(200);
  writeFileSync(authTokenFile, 'second');
  expect([
    await status('/health', 'Bearer first'),
    await status('/health', 'Bearer second'),
  ]).toEqual([401, 200]);
  // While callers change to a new one, both are accepted, and nothing between them.
  writeFileSync(authTokenFile, 'second\n\nthird\r\n');
  const statusOf = (token: string) => status('/health', `Bearer ${token}`);
  expect(await Promise.all(['second', 'third', 'first', 'secondthird'].map(statusOf))).toEqual([
    200, 200, 401, 401,
  ]);
  writeFileSync(authTokenFile, 'second\nnot one token');
  expect(await statusOf('second')).toBe(500);
  rmSync(folder, { recursive: true });
});

test('a submit knows its last moment, and one that arrives after it is not started', async () => {
  const known: unknown[] = [];
  const { url } = await serve(
    memoryExecutor(() => ({
      submit: async (_, { notAfter }) => {
        known.push(notAfter);
        return accepted('in time');
      },
    })),
  );
  const client = createRemoteExecutor(settingsOf(url));
  const input = { context: contextOf(), prepared_action: { amount: '1' } };
  const notAfter = Date.now() + 60_000;
  await client.submit({ ...input, journal }, { ...call, notAfter });
  // As by a host whose clock is ahead by more than the time of the call.
  const passed = { 'x-not-after': new Date(Date.now() - 1).toISOString() };
  await expect(
    client.submit({ ...input, journal }, { ...call, traceHeaders: passed }),
  ).rejects.toMatchObject({
    ...{ kind: 'server_error', code: 'CALL_TOO_LATE' },
    message: expect.stringContaining('1 s after its x-not-after'),
  });
  await client.close();
  const late = await post(`${url}/submit`, JSON.stringify(input), {
    'content-type': 'application/json',
    'x-not-after': new Date(Date.now() - 1).toISOString(),
  });
  expect(late).toMatchObject({ status: 503, body: { error_code: 'CALL_TOO_LATE' } });
  expect(known).toEqual([notAfter]);
});

test('a phase learns that its caller has gone', async () => {
  let reason: unknown;
  const caller = new AbortController();
  const { url } = await serve(
    memoryExecutor(() => ({
      submit: async (_, { signal }) => {
        // Not earlier: a request that never arrived would show nothing.
        caller.abort(new DOMException('waited long enough', 'TimeoutError'));
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        reason = signal.reason;
        throw reason;
      },
    })),
  );
  const client = createRemoteExecutor(settingsOf(url));
  const input = { context: contextOf(), prepared_action: { amount: '1' }, journal };
  await expect(client.submit(input, { signal: caller.signal })).rejects.toMatchObject({
    kind: 'timeout',
  });
  for (let left = 500; reason === undefined && left > 0; left -= 1) await sleep(20);
  expect(String(reason)).toMatch(/the caller has gone/);
  await client.close();
});

test('stop lets a running call finish and takes no new one', async () => {
  let started = (): void => undefined;
  const running = new Promise<void>((resolve) => (started = resolve));
  const server = await serve(
    memoryExecutor(() => ({
      submit: async () => {
        started();
        await sleep(150);
        return accepted('late');
      },
    })),
  );
  const answer = post(
    `${server.url}/submit`,
    JSON.stringify({ context: contextOf(), prepared_action: { amount: '1' } }),
  );
  await running;
  const stopped = server.stop();
  await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  const { status, body, headers } = await answer;
  expect({ status, body }).toMatchObject({ status: 200, body: { external_ref: 'late' } });
  // A connection that is kept would hold the stop up until it has been idle for long.
  expect(headers.get('connection')).toBe('close');
  await stopped;
  served = undefined;
});

test('effects are served only by an executor that counts them', async () => {
  const counting = await serve();
  expect(
    await (await fetch(`${counting.url}/effects/${encodeURIComponent('a/b:1')}`)).json(),
  ).toEqual({ effects: 0 });
  await counting.stop();
  const { effects: _effects, ...silent } = memoryExecutor();
  const { url } = await serve(silent);
  expect((await fetch(`${url}/effects/a`)).status).toBe(404);
});
