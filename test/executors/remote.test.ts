import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SubmitJournal } from '../../domain/executor.ts';
import {
  createRemoteExecutor,
  type RemoteExecutor,
  type RemoteExecutorSettings,
} from '../../executors/remote.ts';
import { contextOf, json, settingsOf, startFakeServer, type FakeServer } from './fake-server.ts';

const journal: SubmitJournal = {
  transactions: async () => [],
  releaseNonce: async () => true,
  displaced: async () => false,
  held: async () => null,
  accepted: async () => undefined,
};
const call = () => ({ signal: new AbortController().signal, requestId: 'request-1' });
const submitInput = () => ({ context: contextOf(), prepared_action: { a: '1' }, journal });

let server: FakeServer;
let executors: RemoteExecutor[];
const remote = (changes: Partial<RemoteExecutorSettings> = {}): RemoteExecutor => {
  const executor = createRemoteExecutor(settingsOf(server.url, changes));
  executors.push(executor);
  return executor;
};

beforeEach(async () => {
  server = await startFakeServer();
  executors = [];
});
afterEach(async () => {
  await Promise.all(executors.map((executor) => executor.close()));
  await server.close();
});

describe('a call', () => {
  test('each phase posts the context to its own path with key and request id', async () => {
    server.answer = (request, response) => {
      const state = {
        '/prepare': 'SUBMITTING',
        '/observe': 'COMPLETED',
        '/recover': 'READY',
        '/cancel': 'FAILED',
      };
      json(response, 200, { next_state: state[request.url as keyof typeof state] });
    };
    const executor = remote();
    const context = contextOf();
    await executor.prepare(context, call());
    await executor.observe(context, call(), journal);
    expect(await executor.recover(context, call(), journal)).toEqual({ next_state: 'READY' });
    await executor.cancel(context, call());
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /prepare',
      'POST /observe',
      'POST /recover',
      'POST /cancel',
    ]);
    for (const { headers, body } of server.seen) {
      expect(JSON.parse(body)).toEqual(context);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'idempotency-key': context.idempotency_key,
        'x-request-id': 'request-1',
      });
      expect(headers.authorization).toBeUndefined();
    }
  });

  test('submit sends context, prepared action and sign result side by side, on a connection of its own', async () => {
    server.answer = (_request, response) =>
      json(response, 200, { next_state: 'SUBMITTED', external_ref: 'r-1' });
    const result = await remote().submit(
      { ...submitInput(), sign_result: { signature: '0x1' } },
      call(),
    );
    expect(result).toEqual({ next_state: 'SUBMITTED', external_ref: 'r-1' });
    const sent: unknown = JSON.parse(server.seen[0]?.body ?? '');
    expect(sent).toEqual({
      context: contextOf(),
      prepared_action: { a: '1' },
      sign_result: { signature: '0x1' },
    });
    expect(server.seen[0]?.headers.connection).toBe('close');
  });

  test('submit alone carries the last moment to send', async () => {
    const state = { '/submit': 'SUBMITTED', '/observe': 'OBSERVING' };
    server.answer = ({ url }, response) =>
      json(response, 200, { next_state: state[url as keyof typeof state] });
    const limited = { ...call(), notAfter: Date.now() + 60_000 };
    const executor = remote();
    await executor.submit(submitInput(), limited);
    await executor.observe(contextOf(), limited, journal);
    await executor.submit(submitInput(), call());
    // As a process with an exchange's keys is called: what is set already stays.
    const earlier = { 'x-not-after': new Date(limited.notAfter - 1).toISOString() };
    await executor.submit(submitInput(), { ...limited, traceHeaders: earlier });
    const carried = server.seen.map(({ headers }) => headers['x-not-after']);
    const last = new Date(limited.notAfter).toISOString();
    expect(carried).toEqual([last, undefined, undefined, earlier['x-not-after']]);
  });

  test('204 on preflight passes, a body there is a refusal', async () => {
    server.answer = (_request, response) => void response.writeHead(204).end();
    expect(await remote().preflight(contextOf(), call())).toBeNull();
    server.answer = (_request, response) =>
      json(response, 200, { next_state: 'FAILED', error_code: 'NO_FUNDS' });
    expect(await remote().preflight(contextOf(), call())).toEqual({
      next_state: 'FAILED',
      error_code: 'NO_FUNDS',
    });
  });

  test('preflight and prepare may make the node wait', async () => {
    const wait = {
      next_state: 'READY',
      error_code: 'WITHDRAWAL_QUOTA_EXHAUSTED',
      error_message: '0.4 BTC of 2 are left until 00:00 UTC',
    } as const;
    server.answer = (_request, response) => json(response, 200, wait);
    expect(await remote().preflight(contextOf(), call())).toEqual(wait);
    expect(await remote().prepare(contextOf(), call())).toEqual(wait);
    server.answer = (_request, response) => json(response, 200, { next_state: 'READY' });
    await expect(remote().preflight(contextOf(), call())).rejects.toMatchObject({
      code: 'EXECUTOR_PROTOCOL_ERROR',
    });
  });

  test('the token comes from its file at each call, so that a rotated one holds at once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'remote-'));
    try {
      const auth_token_file = join(folder, 'token');
      writeFileSync(auth_token_file, 'first\n');
      const executor = remote({ auth_token_file });
      await executor.health(call());
      writeFileSync(auth_token_file, 'second\n');
      await executor.health(call());
      expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
        'Bearer first',
        'Bearer second',
      ]);
      writeFileSync(auth_token_file, '');
      await expect(executor.submit(submitInput(), call())).rejects.toMatchObject({
        kind: 'unreachable',
      });
      expect(server.seen).toHaveLength(2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a key with characters that no header may hold still travels', async () => {
    server.answer = (_request, response) => json(response, 200, { next_state: 'OBSERVING' });
    await remote().observe(contextOf({ idempotency_key: 'm:Überweisung\n:1' }), call(), journal);
    expect(server.seen[0]?.headers['idempotency-key']).toBe('m:%C3%9Cberweisung%0A:1');
  });

  test('the descriptor shows the endpoint and no token', () => {
    const { descriptor } = remote({ provider: 'paper', auth_token_file: '/etc/token' });
    expect(descriptor).toEqual({
      executor_key: 'team.withdrawals',
      kind: 'remote',
      action_types: ['cex_withdrawal'],
      provider: 'paper',
      endpoint: server.url,
      same_key_safe: true,
      settle_seconds: 0,
      timeout_seconds: 5,
      in_process: false,
      sends: true,
      not_payees: [],
      completion_assurances: ['provider_completed'],
    });
  });
});

describe('a fault', () => {
  const status = (code: number, body: unknown = {}, headers: Record<string, string> = {}) => {
    server.answer = (_request, response) => json(response, code, body, headers);
  };

  test.each([
    [400, 'rejected', 'EXECUTOR_REJECTED'],
    [401, 'rejected', 'EXECUTOR_REJECTED'],
    [409, 'rejected', 'EXECUTOR_REJECTED'],
    [408, 'timeout', 'EXECUTOR_TIMEOUT'],
    [429, 'server_error', 'EXECUTOR_RATE_LIMITED'],
    [500, 'server_error', 'EXECUTOR_UNAVAILABLE'],
    [503, 'server_error', 'EXECUTOR_UNAVAILABLE'],
    [204, 'protocol', 'EXECUTOR_PROTOCOL_ERROR'],
  ])('status %i is %s', async (code, kind, errorCode) => {
    status(code);
    await expect(remote().prepare(contextOf(), call())).rejects.toMatchObject({
      kind,
      code: errorCode,
    });
    expect(server.seen).toHaveLength(1);
  });

  test('a submit that fails is sent once and no more', async () => {
    server.answer = (request) => void request.socket.destroy();
    await expect(remote().submit(submitInput(), call())).rejects.toMatchObject({
      kind: 'unreachable',
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(server.seen).toHaveLength(1);
  });

  test('Retry-After is read in seconds and as a date, and bounded', async () => {
    status(429, {}, { 'retry-after': '7' });
    await expect(remote().prepare(contextOf(), call())).rejects.toMatchObject({
      retryAfterSeconds: 7,
    });
    status(503, {}, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    const dated = await remote()
      .prepare(contextOf(), call())
      .catch((error: unknown) => error);
    expect(dated).toHaveProperty('retryAfterSeconds', expect.any(Number));
    status(429, {}, { 'retry-after': '999999' });
    await expect(remote().prepare(contextOf(), call())).rejects.toMatchObject({
      retryAfterSeconds: 3_600,
    });
    status(429, {}, { 'retry-after': 'soon' });
    await expect(remote().prepare(contextOf(), call())).rejects.toMatchObject({
      retryAfterSeconds: undefined,
    });
  });

  test("a refusal carries the executor's own words, short and without markup", async () => {
    status(422, { detail: { error: 'bad', message: `<script>x</script>\n${'y'.repeat(500)}` } });
    const error = await remote()
      .prepare(contextOf(), call())
      .catch((fault: unknown) => fault);
    const message = error instanceof Error ? error.message : '';
    expect(message).toMatch(/^the executor answered 422: script x \/script y+…$/);
    expect(message.length).toBeLessThan(350);
    status(400, { error_message: 'venue is closed' });
    await expect(remote().prepare(contextOf(), call())).rejects.toThrow(
      'the executor answered 400: venue is closed',
    );
  });

  test('a body that is no JSON is never shown', async () => {
    server.answer = (_request, response) =>
      void response.writeHead(400).end('<html>secret page</html>');
    await expect(remote().prepare(contextOf(), call())).rejects.toThrow(
      /^the executor answered 400$/,
    );
  });

  test('a redirect is not followed', async () => {
    server.answer = (_request, response) =>
      void response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
    await expect(remote().submit(submitInput(), call())).rejects.toMatchObject({
      kind: 'protocol',
    });
    expect(server.seen.map(({ url }) => url)).toEqual(['/submit']);
  });

  test.each([
    ['text', 'not json'],
    ['a broken character', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['nothing', ''],
  ])('an answer of %s is a protocol fault', async (_name, body) => {
    server.answer = (_request, response) => void response.writeHead(200).end(body);
    await expect(remote().submit(submitInput(), call())).rejects.toMatchObject({
      kind: 'protocol',
    });
  });

  test('an answer beyond the limit is not read to its end', async () => {
    server.answer = (_request, response) =>
      void response.writeHead(200).end(Buffer.alloc(3 * 1024 * 1024, 0x20));
    await expect(remote().observe(contextOf(), call(), journal)).rejects.toMatchObject({
      kind: 'protocol',
    });
  });

  test("no answer within the executor's time is a time-out", async () => {
    server.answer = () => undefined;
    const slow = remote({ timeout_seconds: 0.1 }).submit(submitInput(), call());
    await expect(slow).rejects.toMatchObject({ kind: 'timeout', code: 'EXECUTOR_TIMEOUT' });
  });

  test('a body that never ends is a time-out too', async () => {
    server.answer = (_request, response) => void response.writeHead(200).write('{"next_state"');
    const slow = remote({ timeout_seconds: 0.1 }).submit(submitInput(), call());
    await expect(slow).rejects.toMatchObject({ kind: 'timeout' });
  });

  test("the caller's signal ends the call, also when it was aborted before", async () => {
    const controller = new AbortController();
    server.answer = () => controller.abort();
    await expect(
      remote().submit(submitInput(), { signal: controller.signal }),
    ).rejects.toMatchObject({
      kind: 'timeout',
    });
    await expect(
      remote().submit(submitInput(), { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      kind: 'timeout',
    });
    expect(server.seen).toHaveLength(1);
  });

  test('a refused connection is unreachable', async () => {
    const executor = createRemoteExecutor(settingsOf('http://127.0.0.1:1'));
    await expect(executor.preflight(contextOf(), call())).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'no complete answer from the executor (ECONNREFUSED)',
    });
    expect(await executor.health(call())).toMatchObject({ state: 'down' });
    await executor.close();
  });
});

describe('health', () => {
  test('is up when an object comes with 2xx, and down otherwise', async () => {
    const executor = remote();
    expect(await executor.health(call())).toEqual({ state: 'up' });
    expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/health' });
    server.answer = (_request, response) => json(response, 200, []);
    expect(await executor.health(call())).toMatchObject({ state: 'down' });
    server.answer = (_request, response) => json(response, 503, {});
    expect(await executor.health(call())).toEqual({ state: 'down', detail: 'health answered 503' });
  });
});
