import { pino } from 'pino';
import { z } from 'zod';
import { createApi } from '../../../api/app.ts';
import { ChangeWaits } from '../../../domain/approval/change.ts';
import type { Power } from '../../../domain/approval/power.ts';
import { ServiceError } from '../../../domain/errors.ts';
import { ALL_ROLES, OPS_ROLES } from '../../../domain/roles.ts';
import { defineRoute, type Route } from '../../../api/http/route.ts';
import {
  int32,
  jsonObject,
  noBody,
  noParams,
  noQuery,
  positiveDecimal,
  text,
  uuid,
} from '../../../api/http/schemas.ts';
import { whoamiRoutes } from '../../../api/whoami/routes.ts';
import { dependencies, guardOf, post, send, sendRaw, serve, serveApi } from '../support.ts';
import { started } from '../../support/started.ts';

const echoBody = z.strictObject({
  nodes: z.array(z.strictObject({ node_key: text(1, 8) })).default([]),
  amount: positiveDecimal.optional(),
  free: jsonObject.optional(),
  count: int32().optional(),
});
const base = {
  roles: ALL_ROLES,
  tag: 'Test',
  summary: 'test',
  params: noParams,
  query: noQuery,
  errors: [],
} as const;

const routes: readonly Route[] = [
  ...whoamiRoutes,
  defineRoute({
    ...base,
    id: 'echo',
    method: 'POST',
    power: 'moves',
    path: '/echo',
    body: echoBody,
    response: jsonObject,
    handler: ({ body }) =>
      Promise.resolve({ status: 200, body: { amount: body.amount ?? null, nodes: body.nodes } }),
  }),
  defineRoute({
    ...base,
    id: 'act',
    method: 'POST',
    power: 'moves',
    path: '/act',
    body: noBody,
    response: jsonObject,
    handler: () => Promise.resolve({ status: 200, body: {} }),
  }),
  defineRoute({
    ...base,
    id: 'item',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/items/{item_id}',
    params: z.strictObject({ item_id: uuid }),
    query: z.strictObject({ q: z.string().optional() }),
    body: noBody,
    response: jsonObject,
    handler: ({ params, query }) =>
      Promise.resolve({ status: 200, body: { id: params.item_id, q: query.q ?? null } }),
  }),
  defineRoute({
    ...base,
    id: 'special',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/items/special',
    body: noBody,
    response: jsonObject,
    handler: () => Promise.resolve({ status: 200, body: { special: true } }),
  }),
  defineRoute({
    ...base,
    id: 'rest',
    method: 'PATCH',
    power: 'narrows',
    path: '/rest/{key+}',
    params: z.strictObject({ key: text(1, 256) }),
    body: noBody,
    response: jsonObject,
    handler: ({ params }) => Promise.resolve({ status: 200, body: { key: params.key } }),
  }),
  defineRoute({
    ...base,
    id: 'crash',
    method: 'POST',
    power: 'moves',
    path: '/crash',
    body: noBody,
    response: jsonObject,
    handler: () => Promise.reject(new Error('password=hunter2')),
  }),
  defineRoute({
    ...base,
    id: 'dry',
    method: 'POST',
    power: 'moves',
    path: '/dry',
    body: noBody,
    response: jsonObject,
    preview: jsonObject,
    handler: ({ dryRun }) => Promise.resolve({ status: 200, body: { dry: dryRun } }),
  }),
  defineRoute({
    ...base,
    id: 'text',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/text',
    body: noBody,
    response: jsonObject,
    text: 'Some text.',
    handler: () => Promise.resolve({ status: 200, text: '<b>ü</b>' }),
  }),
  defineRoute({
    ...base,
    id: 'refuse',
    method: 'POST',
    power: 'narrows',
    path: '/refuse',
    body: noBody,
    response: jsonObject,
    handler: () =>
      Promise.reject(new ServiceError('invalid_state', { context: { current_state: 'FAILED' } })),
  }),
  defineRoute({
    ...base,
    id: 'unmapped',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/unmapped',
    roles: [],
    body: noBody,
    response: jsonObject,
    handler: () => Promise.resolve({ status: 200, body: {} }),
  }),
  defineRoute({
    ...base,
    id: 'ops',
    method: 'GET',
    acts: 'never',
    power: 'reads',
    path: '/ops',
    roles: OPS_ROLES,
    body: noBody,
    response: jsonObject,
    handler: () => Promise.resolve({ status: 200, body: {} }),
  }),
];
let api: string;
const served = started(() => serveApi(routes));
beforeAll(() => {
  api = `${served.url}/v3`;
});

describe('the service itself', () => {
  it('answers healthz at the root', async () => {
    const { status, body } = await send(`${served.url}/healthz`);
    expect([status, body]).toEqual([
      200,
      { ok: true, service: 'fund-movement-orchestrator', api_prefix: '/v3' },
    ]);
    expect((await send(`${served.url}/healthz`, { method: 'POST' })).status).toBe(405);
  });

  it('takes the caller for an admin without ids while authentication is off', async () => {
    expect((await send(`${api}/whoami`)).body).toEqual({
      client_id: null,
      key_id: null,
      role: 'admin',
    });
  });

  it('keeps a well-formed request id and replaces any other', async () => {
    const kept = await send(`${api}/whoami`, { headers: { 'x-request-id': 'abc.DEF_1-2' } });
    expect(kept.headers.get('x-request-id')).toBe('abc.DEF_1-2');
    for (const bad of ['a b', 'x'.repeat(129), 'a,b']) {
      const { headers } = await send(`${api}/whoami`, { headers: { 'x-request-id': bad } });
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('tells nothing of what serves it', async () => {
    const { headers } = await send(`${api}/whoami`);
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  });
});

describe('routing', () => {
  it.each([
    '/v3/nowhere',
    '/v3',
    '/v3/',
    '/v3/whoami/',
    '/v3/Whoami',
    '/V3/whoami',
    '/v3x/whoami',
    '/whoami',
    '/',
    '/healthz/',
    '/v3/items/',
  ])('has no %s', async (path) => {
    const { status, body } = await send(served.url + path);
    expect([status, body.detail.error]).toEqual([404, 'route_not_found']);
  });

  it('answers another method with 405 and Allow', async () => {
    const { status, body, headers } = await send(`${api}/echo`, { method: 'DELETE' });
    expect([status, body.detail.error, headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'POST',
    ]);
  });

  it('prefers a static segment to a parameter', async () => {
    expect((await send(`${api}/items/special`)).body).toEqual({ special: true });
  });

  it('routes the decoded path and gives the rest of it as one parameter', async () => {
    expect((await send(`${api}/rest/a/b%20c`, { method: 'PATCH' })).body).toEqual({ key: 'a/b c' });
    expect((await send(`${api}/who%61mi`)).status).toBe(200);
  });
});

describe('bodies', () => {
  it('is answered with its type and its length in bytes', async () => {
    const nodes = [{ node_key: 'ü€💸' }];
    const { status, body, headers } = await post(`${api}/echo`, { nodes });
    expect([status, body]).toEqual([200, { amount: null, nodes }]);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('content-length')).toBe(
      // ü is two bytes, € three, 💸 four.
      String('{"amount":null,"nodes":[{"node_key":""}]}'.length + 9),
    );
  });

  it('normalises amounts', async () => {
    expect((await post(`${api}/echo`, { amount: '1.500' })).body).toEqual({
      amount: '1.5',
      nodes: [],
    });
  });

  it('names every fault with its place', async () => {
    const { status, body } = await post(`${api}/echo`, {
      nodes: [{ node_key: 'a' }, {}, { node_key: '', extra: 1 }],
      amount: '1e3',
      more: true,
    });
    expect([status, body.detail.error]).toEqual([422, 'invalid_request']);
    const found = Object.fromEntries(
      (body.detail.issues ?? []).map((issue) => [issue.path, issue.code]),
    );
    expect(found).toEqual({
      'nodes[1].node_key': 'required',
      'nodes[2].node_key': 'too_small',
      'nodes[2].extra': 'unknown_field',
      amount: 'invalid_format',
      more: 'unknown_field',
    });
  });

  it.each([
    '0',
    '0.0',
    '-1',
    '+1',
    '1.',
    '.5',
    '01',
    '1e1',
    '1_0',
    ' 1',
    '1.1234567890123456789',
    '123456789012345678901',
    'NaN',
    '',
  ])('refuses the amount %j', async (amount) => {
    expect((await post(`${api}/echo`, { amount })).status).toBe(422);
  });

  it.each([
    ['malformed', '{"a":'],
    ['NUL in a string', '{"free":{"a":"x\\u0000y"}}'],
    ['NUL in a key', '{"free":{"a\\u0000":1}}'],
    ['half a surrogate pair', '{"free":{"a":"\\ud800"}}'],
    ['a number out of range', '{"free":{"a":1e999}}'],
    ['a prototype key', '{"free":{"__proto__":{}}}'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"x"'],
    ['an integer beyond the contract', '{"count":2147483648}'],
    ['a fraction for an integer', '{"count":1.5}'],
  ])('refuses %s', async (_what, body) => {
    const answer = await post(`${api}/echo`, body);
    expect([answer.status, answer.body.detail.error]).toEqual([422, 'invalid_request']);
    expect(answer.body.detail.issues?.length).toBeGreaterThan(0);
  });

  it('limits nesting to 32', async () => {
    const nested = (levels: number): string =>
      `{"free":${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 2)}}`;
    expect((await post(`${api}/echo`, nested(32))).status).toBe(200);
    expect((await post(`${api}/echo`, nested(33))).body.detail.issues?.[0]?.code).toBe('too_deep');
    expect((await post(`${api}/echo`, '['.repeat(100_000))).status).toBe(422);
    expect(
      (await post(`${api}/echo`, `{"free":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`))
        .status,
    ).toBe(422);
  });

  it('limits the size to 1 MiB', async () => {
    const sized = (size: number): string =>
      `{"free":{"a":"${'x'.repeat(size - 17)}"}}`.padEnd(size);
    expect((await post(`${api}/echo`, sized(1_048_576))).status).toBe(200);
    const { status, body } = await post(`${api}/echo`, sized(1_048_577));
    expect([status, body.detail.error]).toEqual([413, 'body_too_large']);
  });

  it.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/x-www-form-urlencoded' }],
    [{ 'content-type': 'application/json; charset=latin1' }],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }],
    [{ 'content-type': 'application/json', 'content-encoding': 'br' }],
  ])('answers 415 for %j', async (headers) => {
    const { status, body } = await post(`${api}/echo`, '{}', headers);
    expect([status, body.detail.error]).toEqual([415, 'unsupported_media_type']);
  });

  it('takes a charset of UTF-8 and the identity encoding', async () => {
    expect(
      (
        await post(`${api}/echo`, '{}', {
          'content-type': 'Application/JSON; charset=UTF-8',
          'content-encoding': 'identity',
        })
      ).status,
    ).toBe(200);
  });

  it('takes none or {} where there is no body, and refuses anything else', async () => {
    expect((await send(`${api}/act`, { method: 'POST' })).status).toBe(200);
    expect((await post(`${api}/act`, {})).status).toBe(200);
    expect((await post(`${api}/act`, { a: 1 })).body.detail.issues).toEqual([
      expect.objectContaining({ path: 'a', code: 'unknown_field' }),
    ]);
    expect((await post(`${api}/echo`, '')).body.detail.issues).toEqual([
      expect.objectContaining({ path: '', code: 'required' }),
    ]);
  });

  it('refuses a body on a read', async () => {
    const answer = await sendRaw(
      served.port,
      'GET /v3/whoami HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
    );
    expect(answer).toMatch(/^HTTP\/1.1 422 /);
  });
});

describe('paths and queries', () => {
  const id = '01938A5E-7C00-7B3A-9D2F-5B1C7E8A4F10';

  it('gives ids in lower case', async () => {
    expect((await send(`${api}/items/${id}?q=a%20b`)).body).toEqual({
      id: id.toLowerCase(),
      q: 'a b',
    });
  });

  it('names a malformed id', async () => {
    const { status, body } = await send(`${api}/items/x`);
    expect([status, body.detail.issues?.[0]?.path]).toEqual([422, 'item_id']);
  });

  it.each([
    ['?z=1', 'z', 'unknown_field'],
    ['?q=1&q=2', 'q', 'repeated'],
    ['?q=%ff', 'q', 'invalid_encoding'],
    ['?q=%00', 'q', 'invalid_encoding'],
    ['?__proto__=1', '__proto__', 'unknown_field'],
  ])('refuses %s', async (query, path, code) => {
    const { status, body } = await send(`${api}/items/${id}${query}`);
    expect([status, body.detail.issues]).toEqual([422, [expect.objectContaining({ path, code })]]);
  });
});

describe('a dry run', () => {
  it.each(['true', 'false', ''])('is refused where there is no preview: %j', async (value) => {
    const headers = { 'dry-run': value };
    const answers = [
      await post(`${api}/echo`, {}, headers),
      await post(`${api}/crash`, {}, headers),
      await send(`${api}/whoami`, { headers }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.detail.error, body.detail.issues]).toEqual([
        422,
        'invalid_request',
        [expect.objectContaining({ path: 'dry-run', code: 'unsupported' })],
      ]);
    }
  });

  it('reaches the handler of a route that has one, and only with `true`', async () => {
    const dry = (value: string) => post(`${api}/dry`, {}, { 'dry-run': value });
    expect((await dry('true')).body).toEqual({ dry: true });
    expect((await dry('false')).body).toEqual({ dry: false });
    expect((await post(`${api}/dry`, {})).body).toEqual({ dry: false });
    expect((await dry('True')).body.detail.issues).toEqual([
      expect.objectContaining({ path: 'dry-run', code: 'invalid_value' }),
    ]);
  });
});

describe('an idempotency key in the header', () => {
  const headers = { 'idempotency-key': 'k' };

  it('is refused by a write that reads none, which would act again', async () => {
    for (const path of ['echo', 'act', 'crash', 'dry']) {
      const { status, body } = await post(`${api}/${path}`, {}, headers);
      expect([status, body.detail.error, body.detail.issues]).toEqual([
        422,
        'invalid_request',
        [expect.objectContaining({ path: 'idempotency-key', code: 'unsupported' })],
      ]);
    }
  });

  it('is ignored by one that only stops something', async () => {
    const answers = await Promise.all(
      [undefined, headers].map((each) => post(`${api}/refuse`, {}, each)),
    );
    expect(answers.map(({ status }) => status)).toEqual([409, 409]);
  });

  it('changes no read', async () => {
    expect((await send(`${api}/whoami`, { headers })).status).toBe(200);
  });
});

describe('plain text', () => {
  it('is sent as such and never sniffed', async () => {
    const response = await fetch(`${api}/text`);
    expect([
      response.headers.get('content-type'),
      response.headers.get('x-content-type-options'),
    ]).toEqual(['text/plain; charset=utf-8', 'nosniff']);
    expect(await response.text()).toBe('<b>ü</b>');
  });
});

describe('errors', () => {
  it('tells nothing of the inside', async () => {
    const { status, body } = await send(`${api}/crash`, {
      method: 'POST',
      headers: { 'x-request-id': 'r-1' },
    });
    expect([
      status,
      Object.keys(body.detail),
      body.detail.error,
      body.detail['request_id'],
    ]).toEqual([500, ['error', 'message', 'request_id'], 'internal_error', 'r-1']);
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });

  it('carries the context of a refusal', async () => {
    const { status, body } = await send(`${api}/refuse`, { method: 'POST' });
    expect([status, body.detail.error, body.detail['current_state']]).toEqual([
      409,
      'invalid_state',
      'FAILED',
    ]);
  });
});

describe('a change that waits for people', () => {
  it.each<[string, Power]>([
    ['narrows', 'narrows'],
    ['moves', 'moves'],
    ['widens another kind', { widens: 'keys' }],
  ])('is a fault of a route that declares that it %s', async (_what, power) => {
    const after = { chain: 'base' };
    const effect = { kinds: ['bridge'], subject: 'bridge_chains', before: null, after } as const;
    const route = defineRoute({
      ...base,
      id: 'waits',
      method: 'POST',
      power,
      path: '/waits',
      body: noBody,
      response: jsonObject,
      handler: () => Promise.reject(new ChangeWaits(effect, { cause: new Error('FM023') })),
    });
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const open = await serve(createApi({ ...dependencies(), log }, [route]));
    const { status, body } = await send(`${open.url}/v3/waits`, { method: 'POST' });
    expect([status, body.detail.error]).toEqual([500, 'internal_error']);
    // A request that was made for it would have used the database, which is another 500.
    expect(lines.join('')).toContain('the route waits does what it does not declare');
    await open.close();
  });
});

describe('with authentication', () => {
  const operator = { client_id: 'c', key_id: 'k', role: 'operator' } as const;

  it('admits no request without an authenticator', async () => {
    const closed = await serveApi(routes, { authEnabled: true });
    expect((await send(`${closed.url}/v3/whoami`)).status).toBe(401);
    expect((await send(`${closed.url}/v3/nowhere`)).status).toBe(401);
    expect((await send(`${closed.url}/healthz`)).status).toBe(200);
    await closed.close();
  });

  it('checks the role, and closes a route without roles', async () => {
    const open = await serveApi(routes, { authEnabled: true }, { guard: guardOf(operator) });
    expect((await send(`${open.url}/v3/whoami`)).body).toEqual(operator);
    expect((await send(`${open.url}/v3/ops`)).status).toBe(200);
    expect((await send(`${open.url}/v3/unmapped`)).body.detail.error).toBe('route_role_unmapped');
    await open.close();
    const agent = await serveApi(
      routes,
      { authEnabled: true },
      { guard: guardOf({ ...operator, role: 'agent' }) },
    );
    expect((await send(`${agent.url}/v3/ops`)).body.detail.error).toBe('forbidden');
    await agent.close();
  });

  it('opens a route without roles while authentication is off', async () => {
    expect((await send(`${api}/unmapped`)).status).toBe(200);
  });

  it('gives the authenticator the raw bytes', async () => {
    let seen = '';
    const open = await serveApi(
      routes,
      { authEnabled: true },
      {
        guard: {
          ...guardOf(operator),
          authenticate: ({ body, target }) => {
            seen = `${target.path}|${target.query}|${Buffer.from(body).toString()}`;
            return Promise.resolve(operator);
          },
        },
      },
    );
    await post(`${open.url}/v3/%65cho?b=%2F&a=`, '{ }', { 'content-encoding': 'gzip' });
    expect(seen).toBe('/v3/echo|b=%2F&a=|{ }');
    await open.close();
  });
});
