/** What a caller may believe of answers that are lost, late, strange, or that lead nowhere. */
import {
  ApiError,
  ClientUsageError,
  createClient,
  UnreachableError,
  type ClientOptions,
} from '../../clients/http/index.ts';
import { createDashboardClient } from '../../clients/http/dashboard.ts';
import { pause } from '../../clients/http/retry.ts';
import { answer, lose, refuse, startFlakyServer, type Act } from './flaky-server.ts';
import { started } from '../support/started.ts';

const MOVEMENT = { template_key: 'a', template_version: 1, intent: { asset: 'X', amount: '1' } };
const server = started(() => startFlakyServer());

const client = (options: Partial<ClientOptions> = {}) =>
  createClient({
    baseUrl: server.url,
    key: { keyId: 'tester', secret: 'secret' },
    prefix: '/v3',
    ...options,
  });
const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (body) => {
      throw new Error(`it succeeded with ${JSON.stringify(body)}`);
    },
    (error: unknown) => error,
  );
const page: Act = (response) => response.writeHead(201, { 'content-type': 'text/html' }).end('<p>');
/** Begins an answer and goes on for ever, a byte at a time. */
const drip: Act = (response) => {
  response.writeHead(201, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

test.each([
  ['a key that is no longer believed', refuse(401, 'unauthenticated'), true],
  ['a role that was taken away', refuse(403, 'forbidden'), true],
  ['a proxy that lets nothing through', answer(404, 'not here'), true],
  ['another request under the key', refuse(409, 'idempotency_conflict'), false],
])('after a lost answer, %s: may it have been taken?', async (_, then, maybeTaken) => {
  server.script(lose, then);
  expect(await failure(client().movements.create(MOVEMENT))).toMatchObject({ maybeTaken });
  expect(server.seen).toHaveLength(2);
});

test.each([
  ['a success that cannot be read', page],
  ['a fault in words that are not of the service', answer(500, 'oops')],
])('%s leaves a write in doubt, and is sent once', async (_, act) => {
  server.script(act, answer(201, { movement_id: 'm' }));
  const error = await failure(client().movements.create(MOVEMENT));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ maybeTaken: true, code: null });
  expect(server.seen).toHaveLength(1);
  server.script(act);
  expect(await failure(client().whoami())).toMatchObject({ maybeTaken: false });
});

test('a try ends at its timeout, even while its answer is arriving', async () => {
  server.script(drip);
  const error = await failure(client({ timeoutMs: 200.5, retries: 0 }).movements.cancel('m'));
  expect(error).toBeInstanceOf(UnreachableError);
  expect(error).toMatchObject({ causeCode: 'TIMEOUT', maybeTaken: true });
});

test('a date of Retry-After is read as seconds from now', async () => {
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
  const secondsOf = async (header: string) => {
    server.script(refuse(503, 'overloaded', { 'retry-after': header }));
    const error = await failure(client({ retries: 0 }).whoami());
    return (error as ApiError).retryAfterSeconds;
  };
  const soon = await secondsOf(at(90));
  expect(soon).toBeGreaterThan(80);
  expect(soon).toBeLessThanOrEqual(91);
  expect(await secondsOf(at(-90))).toBe(0);
  for (const none of ['soon', '-1', '1.5', '']) expect(await secondsOf(none)).toBeNull();
});

test('a wait longer than any timer is none that is over at once', async () => {
  const stop = new AbortController();
  const over = pause(2 ** 40, stop.signal).then(() => 'over');
  const first = await Promise.race([over, pause(50).then(() => 'not yet')]);
  stop.abort(new Error('enough'));
  await expect(over).rejects.toThrow('enough');
  expect(first).toBe('not yet');
});

test('pages that lead to themselves end', async () => {
  server.script(answer(200, { movements: [{ movement_id: 'm' }], next_cursor: 'same' }));
  const read = async () => {
    for await (const _ of client().movements.list({ limit: 1 }));
  };
  expect(await failure(read())).toMatchObject({ name: 'ApiError' });
  expect(server.seen).toHaveLength(2);
});

test('the health answer of another server is an error, and the next call reads health again', async () => {
  server.script(
    answer(200, { ok: true, api_prefix: '//elsewhere' }),
    answer(200, { ok: true, service: 'x', api_prefix: '/v3' }),
    answer(200, {}),
  );
  const learning = client({ prefix: undefined });
  expect(await failure(learning.whoami())).toBeInstanceOf(ApiError);
  await learning.whoami();
  expect(server.seen.map(({ target }) => target)).toEqual(['/healthz', '/healthz', '/v3/whoami']);
});

test('an id that is not there is refused and no path, and so are times that are none', async () => {
  server.script(answer(200, {}));
  const nothing = undefined as unknown as string;
  expect(await failure(client().movements.cancel(nothing))).toBeInstanceOf(ClientUsageError);
  for (const timeoutMs of [0, NaN, Infinity])
    expect(() => client({ timeoutMs })).toThrow(ClientUsageError);
  const wait = client().waitFor('m', 'COMPLETED', { timeoutMs: NaN });
  expect(await failure(wait)).toBeInstanceOf(ClientUsageError);
  expect(server.seen).toEqual([]);
});

test('a write of an operator that is answered 401 may have been taken by an earlier copy; a read is refused', async () => {
  const refused = { detail: { error: 'unauthenticated', message: 'Not authenticated.' } };
  const operator = createDashboardClient({
    baseUrl: server.url,
    key: { operator: 'ada', secret: 'secret' },
    fetch: (url) =>
      Promise.resolve(
        String(url).endsWith('/dashboard/nonce')
          ? Response.json({ nonce: 'n'.repeat(22) })
          : Response.json(refused, { status: 401 }),
      ),
  });
  const write = { method: 'POST', target: '/dashboard/api/x', body: {} } as const;
  expect(await failure(operator.send(write))).toMatchObject({ status: 401, maybeTaken: true });
  const read = { method: 'GET', target: '/dashboard/api/x' } as const;
  expect(await failure(operator.send(read))).toMatchObject({ status: 401, maybeTaken: false });
});

test('what may not be signed now leaves nothing but the question for a nonce', async () => {
  server.script(answer(200, { nonce: 'n'.repeat(22) }));
  const wrong = new ClientUsageError('The clock is wrong.');
  const operator = createDashboardClient({
    baseUrl: server.url,
    key: { operator: 'ada', secret: 'secret' },
    beforeSigning: () => {
      throw wrong;
    },
  });
  const write = { method: 'POST', target: '/dashboard/api/x', body: {} } as const;
  expect(await failure(operator.send(write))).toBe(wrong);
  expect(server.seen.map(({ method, target }) => [method, target])).toEqual([
    ['GET', '/dashboard/nonce'],
  ]);
});

test('what is read for no person says so, by whichever call', async () => {
  server.script(answer(200, {}));
  let isBackground = true;
  const operator = createDashboardClient({
    baseUrl: server.url,
    key: null,
    isBackground: () => isBackground,
  });
  const reads = async (): Promise<readonly unknown[]> => {
    server.seen.length = 0;
    await operator.send({ method: 'GET', target: '/dashboard/allowed-addresses' });
    await operator.call('whoami');
    return server.seen.map(({ headers }) => headers['x-svc-background']);
  };
  expect(await reads()).toEqual(['1', '1']);
  isBackground = false;
  expect(await reads()).toEqual([undefined, undefined]);
});
