/** What is sent again, what never is, and what the server sees of it. */
import { canonicalString, signatureOf } from '../../api/auth/canonical.ts';
import { parseTarget } from '../../api/http/target.ts';
import {
  ApiError,
  ClientUsageError,
  createClient,
  UnreachableError,
  type ClientOptions,
  type RetryNotice,
} from '../../clients/http/index.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { answer, cut, hang, lose, refuse, startFlakyServer, type Act } from './flaky-server.ts';
import { started } from '../support/started.ts';

const SECRET = 'a-secret-that-no-one-may-see';
const MOVEMENT = { template_key: 'a', template_version: 1, intent: { asset: 'X', amount: '1' } };
const APPROVAL = { compiled_plan_hash: 'f'.repeat(64), approver_id: 'me' };
const CREATED = answer(201, { movement_id: 'm' });
const server = started(() => startFlakyServer());

const client = (options: Partial<ClientOptions> = {}) =>
  createClient({
    baseUrl: server.url,
    key: { keyId: 'tester', secret: SECRET },
    prefix: '/v3',
    ...options,
  });
const create = (options?: Partial<ClientOptions>) => client(options).movements.create(MOVEMENT);
const approve = (options?: Partial<ClientOptions>) =>
  client(options).movements.approve('m', APPROVAL);

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (body) => {
      throw new Error(`it succeeded with ${JSON.stringify(body)}`);
    },
    (error: unknown) => error,
  );
const keys = () =>
  server.seen.map(({ body }) => (JSON.parse(body) as { idempotency_key?: string }).idempotency_key);

describe('a create', () => {
  const TROUBLES: readonly (readonly [string, Act])[] = [
    ['an answer that is lost', lose],
    ['an answer that is cut', cut],
    ['no answer in time', hang],
    ['503 outcome_unknown', refuse(503, 'outcome_unknown')],
    ['503 overloaded', refuse(503, 'overloaded', { 'retry-after': '0' })],
    ['503 dependency_unavailable', refuse(503, 'dependency_unavailable')],
    ['429', answer(429, { detail: 'rate limit exceeded' }, { 'retry-after': '0' })],
    ["a proxy's 502", answer(502, 'bad gateway')],
  ];

  test.each(TROUBLES)('is sent again after %s: one key, the same bytes', async (_, trouble) => {
    server.script(trouble, CREATED);
    const made = await create({ timeoutMs: 300 });
    expect(made.movement_id).toBe('m');
    const { seen } = server;
    expect(seen).toHaveLength(2);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(seen.map(({ headers }) => headers['x-svc-nonce'])).size).toBe(2);
    for (const { method, target, headers, body } of seen) {
      const parts = {
        method,
        ...parseTarget(target),
        body: Buffer.from(body),
        timestamp: String(headers['x-svc-timestamp']),
        nonce: String(headers['x-svc-nonce']),
      };
      const signature = signatureOf(SECRET, parts).toString('hex');
      expect([canonicalString(parts), headers['x-svc-signature']]).toEqual([
        canonicalString(parts),
        signature,
      ]);
    }
  });

  test('keeps the key that the caller gave, in either place', async () => {
    server.script(lose, CREATED);
    await client().call('createMovement', { body: MOVEMENT, idempotencyKey: 'own' });
    expect(keys()).toEqual(['own', 'own']);
    server.script(lose, CREATED);
    await client().movements.create({ ...MOVEMENT, idempotency_key: 'in-the-body' });
    expect(keys()).toEqual(['in-the-body', 'in-the-body']);
  });

  test('says after its last try that it may have been taken', async () => {
    server.script(lose, refuse(503, 'overloaded'));
    const error = await failure(create({ retries: 2 }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'overloaded', maybeTaken: true });
    expect(server.seen).toHaveLength(3);
    server.script(lose, refuse(409, 'cutover_mode_active'));
    expect(await failure(create())).toMatchObject({ status: 409, maybeTaken: false });
  });

  test('is not sent again where its answer is final', async () => {
    for (const [status, code] of [
      [422, 'invalid_request'],
      [409, 'idempotency_conflict'],
      [500, 'internal_error'],
      [503, 'route_role_unmapped'],
    ] as const) {
      server.script(refuse(status, code), CREATED);
      expect(await failure(create())).toMatchObject({ status, code });
      expect(server.seen).toHaveLength(1);
    }
  });
});

describe('a write without a key', () => {
  test.each([
    ['an answer that is lost', lose],
    ['an answer that is cut', cut],
    ['no answer in time', hang],
  ])('is sent once when there is %s, and may have been taken', async (_, trouble) => {
    server.script(trouble, answer(200, {}));
    const error = await failure(approve({ timeoutMs: 200 }));
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({ maybeTaken: true, address: server.url });
    expect((error as Error).message).toMatch(
      /^No answer from http:\/\/127\.0\.0\.1:\d+: [^\n]+; the request may have been taken\.$/,
    );
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['503 outcome_unknown', refuse(503, 'outcome_unknown')],
    ["a proxy's 504", answer(504, 'gateway time-out')],
  ])('is sent once when %s leaves it open', async (_, trouble) => {
    server.script(trouble, answer(200, {}));
    expect(await failure(approve())).toMatchObject({ maybeTaken: true });
    expect(server.seen).toHaveLength(1);
  });

  test('is sent again where nothing was accepted', async () => {
    server.script(
      refuse(503, 'overloaded', { 'retry-after': '0' }),
      refuse(503, 'dependency_unavailable'),
      answer(429, { detail: 'rate limit exceeded' }),
      answer(200, { request_state: 'APPROVED' }),
    );
    expect(await approve()).toMatchObject({ request_state: 'APPROVED' });
    expect(server.seen).toHaveLength(4);
  });

  test('that never left says that nothing was taken, and is tried again', async () => {
    const notices: RetryNotice[] = [];
    const baseUrl = `http://127.0.0.1:${String(await freePort())}`;
    const error = await failure(
      approve({ baseUrl, retries: 2, onRetry: (notice) => notices.push(notice) }),
    );
    expect(error).toMatchObject({ maybeTaken: false, causeCode: 'ECONNREFUSED' });
    expect((error as Error).message).toMatch(/^No answer from http:\S+: connect ECONNREFUSED/);
    expect(notices.map(({ operation, attempt }) => [operation, attempt])).toEqual([
      ['approveMovement', 1],
      ['approveMovement', 2],
    ]);
  });
});

test('a read is sent again, and a dry run is one', async () => {
  server.script(lose, cut, refuse(503, 'outcome_unknown'), answer(200, { movement_id: 'm' }));
  expect(await client().movements.get('m')).toMatchObject({ movement_id: 'm' });
  expect(server.seen).toHaveLength(4);
  server.script(lose, answer(200, { would_create: true }));
  await client().movements.preview(MOVEMENT);
  const target = '/v3/movements?dry_run=true';
  expect(server.seen.map((seen) => seen.target)).toEqual([target, target]);
  expect(keys()).toEqual([undefined, undefined]);
});

test('Retry-After is waited for, within the time that is allowed', async () => {
  const waits: number[] = [];
  const onRetry = ({ waitMs }: RetryNotice) => waits.push(waitMs);
  server.script(refuse(503, 'overloaded', { 'retry-after': '1' }), answer(200, {}));
  const startedAt = Date.now();
  await approve({ onRetry });
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(990);
  expect(waits).toHaveLength(1);
  server.script(answer(429, { detail: 'rate limit exceeded' }, { 'retry-after': '40' }));
  expect(await failure(approve({ onRetry, retryForMs: 5_000 }))).toMatchObject({
    code: 'rate_limited',
    retryAfterSeconds: 40,
  });
  expect([server.seen.length, waits.length]).toEqual([1, 1]);
});

test('waits double, are jittered, and end with the tries', async () => {
  const waits: number[] = [];
  server.script(refuse(503, 'dependency_unavailable'));
  await failure(approve({ retries: 3, onRetry: ({ waitMs }) => waits.push(waitMs) }));
  expect(server.seen).toHaveLength(4);
  waits.forEach((wait, index) => {
    expect(wait).toBeGreaterThanOrEqual(100 * 2 ** index);
    expect(wait).toBeLessThanOrEqual(200 * 2 ** index);
  });
});

test.each([
  ['a try', hang, {}],
  ['a wait', refuse(503, 'overloaded', { 'retry-after': '60' }), {}],
  ['the question for the prefix', hang, { prefix: undefined }],
] satisfies [string, Act, Partial<ClientOptions>][])(
  'an abort ends %s',
  async (_, act, options) => {
    // Of its own: on a busy machine an aborted request arrives after the test that sent it.
    const own = await startFlakyServer();
    try {
      own.script(act);
      const signal = AbortSignal.timeout(100);
      const work = client({ baseUrl: own.url, ...options }).call('whoami', { signal });
      expect(await failure(work)).toMatchObject({ name: 'TimeoutError' });
    } finally {
      await own.stop();
    }
  },
);

test('the prefix is requested once, and again after a failure', async () => {
  const health = answer(200, { ok: true, service: 'x', api_prefix: '/fund/v3' });
  server.script(answer(404, 'nothing'), health, answer(200, {}));
  const learning = client({ prefix: undefined });
  const both = await Promise.all([failure(learning.whoami()), failure(learning.whoami())]);
  expect(both).toMatchObject([{ status: 404 }, { status: 404 }]);
  await Promise.all([learning.whoami(), learning.whoami()]);
  await learning.whoami();
  expect(server.seen.map(({ target }) => target)).toEqual([
    '/healthz',
    '/healthz',
    '/fund/v3/whoami',
    '/fund/v3/whoami',
    '/fund/v3/whoami',
  ]);
  expect(server.seen[0]?.headers['x-svc-signature']).toBeUndefined();
});

describe('a likely prefix', () => {
  const health = (api_prefix: string) => answer(200, { ok: true, service: 'x', api_prefix });
  const noRoute = refuse(404, 'route_not_found');
  const likely = (options: Partial<ClientOptions> = {}) =>
    client({ prefix: undefined, likelyPrefix: '/v3', retries: 0, ...options });
  const targets = () => server.seen.map(({ target }) => target);

  test('that is right needs no request for the prefix', async () => {
    server.script(answer(200, {}));
    const learning = likely();
    await Promise.all([learning.whoami(), learning.whoami()]);
    await learning.whoami();
    expect(targets()).toEqual(['/v3/whoami', '/v3/whoami', '/v3/whoami']);
  });

  test.each([
    ['the service has no such path', noRoute],
    ['a proxy has no such path', answer(404, 'nothing here')],
    ['another server has no such path', answer(404, { detail: 'Not Found' })],
    ['a proxy lets nothing through to it', answer(403, 'not here')],
    ['another server answers a read with a page', (response) => void response.end('<html>')],
    ['a proxy has no server for it', answer(503, 'no server is available')],
    ['another server fails with it', answer(500, 'oops')],
  ] satisfies [string, Act][])('is replaced by the right one, once, where %s', async (_, act) => {
    server.script(act, health('/fund/v3'), answer(200, {}));
    const learning = likely();
    await learning.whoami();
    await learning.whoami();
    expect(targets()).toEqual(['/v3/whoami', '/healthz', '/fund/v3/whoami', '/fund/v3/whoami']);
    expect(server.seen[1]?.headers['x-svc-signature']).toBeUndefined();
  });

  test('is never tried with a write: that is sent once, under the prefix of the service', async () => {
    server.script(health('/fund/v3'), CREATED, answer(200, {}));
    const learning = likely();
    await learning.movements.create(MOVEMENT);
    await learning.whoami();
    expect(targets()).toEqual(['/healthz', '/fund/v3/movements', '/fund/v3/whoami']);
  });

  test.each(['/v3', '/fund/v3'])(
    'that has answered a read proves nothing to a write: /healthz is read once, and says %s',
    async (prefix) => {
      server.script(answer(200, {}), health(prefix), CREATED);
      const learning = likely();
      await learning.whoami();
      await learning.movements.create(MOVEMENT);
      await learning.movements.create(MOVEMENT);
      await learning.whoami();
      expect(targets()).toEqual([
        '/v3/whoami',
        '/healthz',
        `${prefix}/movements`,
        `${prefix}/movements`,
        `${prefix}/whoami`,
      ]);
    },
  );

  test('that is wrong for several calls at once is replaced for all, by one request', async () => {
    server.script((response, seen) => {
      const act = seen.target === '/healthz' ? health('/fund/v3') : answer(200, {});
      (seen.target.startsWith('/v3/') ? noRoute : act)(response, seen);
    });
    const learning = likely();
    await Promise.all([learning.whoami(), learning.whoami()]);
    expect(targets().filter((target) => target === '/healthz')).toHaveLength(1);
    expect(targets().filter((target) => target === '/fund/v3/whoami')).toHaveLength(2);
  });

  test.each([
    ['a path that is missing', noRoute, { status: 404, rawCode: 'route_not_found' }],
    ["a proxy's 502", answer(502, 'bad gateway'), { status: 502, rawCode: null }],
  ] satisfies [string, Act, object][])(
    'that is right stays, and so does the answer: %s',
    async (_, act, expected) => {
      server.script(act, health('/v3'), act);
      const learning = likely();
      for (let count = 0; count < 2; count += 1)
        expect(await failure(learning.whoami())).toMatchObject(expected);
      expect(targets()).toEqual(['/v3/whoami', '/healthz', '/v3/whoami']);
    },
  );

  test('leaves a 5xx as the error where the request for the prefix fails too', async () => {
    server.script(answer(502, 'bad gateway'), lose, answer(200, {}));
    const learning = likely();
    expect(await failure(learning.whoami())).toMatchObject({ status: 502, rawCode: null });
    await learning.whoami();
    expect(targets()).toEqual(['/v3/whoami', '/healthz', '/v3/whoami']);
    server.script(answer(502, 'bad gateway'), hang);
    const signal = AbortSignal.timeout(100);
    expect(await failure(likely().call('whoami', { signal }))).toMatchObject({
      name: 'TimeoutError',
    });
  });

  test('is tried again after the request for the prefix failed', async () => {
    server.script(noRoute, answer(200, { hello: 'world' }), answer(200, {}));
    const learning = likely();
    expect(String(await failure(learning.whoami()))).toContain("another server's");
    await learning.whoami();
    expect(targets()).toEqual(['/v3/whoami', '/healthz', '/v3/whoami']);
  });

  test('must be a prefix', () => {
    expect(() => likely({ likelyPrefix: 'v3/' })).toThrow(ClientUsageError);
  });
});

test('no secret and nothing that was sent stands in an error', async () => {
  const loud: typeof fetch = (_, init) => {
    throw Object.assign(
      new Error(`cannot send ${JSON.stringify([...new Headers(init?.headers)])}`),
      {
        code: 'ERR_INVALID_CHAR',
      },
    );
  };
  const errors = [
    await failure(create({ fetch: loud, retries: 0 })),
    await failure(client().call('whoami', { headers: { 'X-Own': `${SECRET}\nx` } })),
    await failure(client().call('whoami', { headers: { 'x-svc-signature': SECRET } })),
  ];
  for (const make of [
    () => client({ key: { keyId: `a ${SECRET}`, secret: SECRET } }),
    () => client({ baseUrl: `http://user:${SECRET}@localhost` }),
    () => client({ key: { keyId: 'tester', secret: '' } }),
  ])
    expect(make).toThrow(ClientUsageError);
  for (const error of errors) {
    expect(error).toBeInstanceOf(Error);
    expect(
      `${String(error)} ${JSON.stringify(error)} ${String((error as Error).cause)}`,
    ).not.toMatch(/a-secret|tester|[0-9a-f]{64}/);
  }
});

test('an impossible call is refused before anything is sent', async () => {
  server.script(answer(200, {}));
  const usage = async (work: () => Promise<unknown>) =>
    expect(await failure(work())).toBeInstanceOf(ClientUsageError);
  const one = client();
  for (const id of ['', '.', '..', 'a/b', 'a\\b', 'a%2Fb', 'a\nb', '\ud800'])
    await usage(() => one.movements.get(id));
  for (const key of ['', 'a//b', '/a', 'a/../b'])
    await usage(() => one.templates.update(key, { auto_approve_enabled: true }));
  await usage(() =>
    one.call('approveMovement', {
      params: { movement_id: 'm' },
      body: APPROVAL,
      idempotencyKey: 'x',
    }),
  );
  await usage(() =>
    one.call('createMovement', {
      body: { ...MOVEMENT, idempotency_key: 'a' },
      idempotencyKey: 'b',
    }),
  );
  for (const value of ['a\r\nX-SVC-Key-Id: b', 'a\nb', 'a\0b', '\u20ac', 'a\u007fb'])
    await usage(() => one.call('whoami', { headers: { 'X-Own': value } }));
  for (const name of ['', 'X Own', 'X-Own:', 'X-Own\r\nX', '\u00fc', 'X-SVC-NONCE'])
    await usage(() => one.call('whoami', { headers: { [name]: 'a' } }));
  await usage(() => one.call('whoami', { dryRun: true }));
  await usage(() => one.call('noSuchThing' as 'whoami'));
  expect(() => client({ baseUrl: 'http://localhost:8100/v3' })).toThrow('option prefix');
  expect(() => client({ prefix: 'v3/' })).toThrow(ClientUsageError);
  expect(server.seen).toEqual([]);
});

test('a header of the caller arrives once, whatever case its name has', async () => {
  server.script(CREATED);
  await client().call('createMovement', {
    body: MOVEMENT,
    headers: { 'CONTENT-TYPE': 'application/json; charset=utf-8', 'X-Own': ' \u00fc\tb ' },
  });
  expect(server.seen).toHaveLength(1);
  expect(server.seen[0]?.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-own': '\u00fc\tb',
  });
});
