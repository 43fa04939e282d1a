/**
 * What holds for every route: bodies, ids, paths, methods, request ids, and the operators'
 * listener.
 */
import {
  expectInvalid,
  expectRefusal,
  get,
  movementBody,
  must,
  post,
  send,
  sendRaw,
  shared,
  type ErrorBody,
} from '../support/http.ts';

const UNKNOWN_ID = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';
const json = { 'content-type': 'application/json' };

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Fields with names of three characters: as many as fit into a body of 1 MiB. */
const fields = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      [at >> 12, at >> 6, at].map((part) => ALPHABET[part & 63]).join(''),
      1,
    ]),
  );

describe('a request body', () => {
  const refused = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    post<ErrorBody>('/movements', body, headers);

  test('of more than 1 MiB is 413', async () => {
    const { status, body } = await sendRaw({
      method: 'POST',
      path: '/v3/movements',
      headers: json,
      body: Buffer.alloc(1_048_577, 32),
    });
    expect([status, (body as ErrorBody).detail.error]).toEqual([413, 'body_too_large']);
  });

  test('of exactly 1 MiB is read', async () => {
    const text = JSON.stringify({ unknown: '' });
    const padded = text.replace('""', `"${'x'.repeat(1_048_576 - text.length)}"`);
    const { status, body } = await refused(padded);
    expect([status, body.detail.issues?.at(-1)?.path]).toEqual([422, 'unknown']);
  });

  test.each([
    ['text/plain', {}],
    ['application/json; charset=latin1', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('of type %s with %j is 415', async (type, headers) => {
    expectRefusal(
      await refused('{}', { 'content-type': type, ...headers }),
      415,
      'unsupported_media_type',
    );
  });

  test('without a type is 415', async () => {
    const { status } = await sendRaw({ method: 'POST', path: '/v3/movements', body: '{}' });
    expect(status).toBe(415);
  });

  test.each([
    ['malformed JSON', '{"a":', 'invalid_json'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_utf8'],
    ['NUL in a string', '{"template_key":"a\\u0000b"}', 'invalid_string'],
    ['a name twice', '{"template_key":"a","template_key":"b"}', 'repeated'],
    ['a number that is rounded', '{"template_version":9007199254740993}', 'invalid_number'],
    ['half of a surrogate pair', '{"template_key":"\\ud800"}', 'invalid_string'],
    ['more than 32 levels', `{"input_params":${'{"a":'.repeat(32)}1${'}'.repeat(32)}}`, 'too_deep'],
  ])('with %s is 422', async (_what, body, code) => {
    const answer = await refused(body);
    expect([answer.status, answer.body.detail.error, answer.body.detail.issues?.[0]?.code]).toEqual(
      [422, 'invalid_request', code],
    );
  });

  test('that is missing is refused as missing', async () => {
    expectInvalid(await post('/movements'), '');
  });

  test('is not taken by a GET', async () => {
    const { status } = await sendRaw({
      method: 'GET',
      path: '/v3/movements',
      headers: { ...json, 'content-length': '2' },
      body: '{}',
    });
    expect(status).toBe(422);
  });

  test('names every unknown field', async () => {
    const body = {
      ...movementBody({ template_key: 'a', version: 1 }),
      first: 1,
      intent: { asset: 'A', amount: '1', second: 2 },
    };
    expectInvalid(await post('/movements', body), 'intent.second', 'first');
  });

  test.each([
    ['131,000 unknown fields', fields(131_000)],
    ['131,000 labels that are no text', { labels: fields(131_000) }],
  ])('with %s is 422', async (_what, body) => {
    const answer = await refused(JSON.stringify(body));
    expect([answer.status, answer.body.detail.issues?.[0]?.code]).toEqual([422, 'too_many_values']);
  });

  test.each(['actions/resume', 'actions/retry', 'actions/cancel', 'reject'])(
    'of %s may be left out or be {}',
    async (action) => {
      for (const body of [undefined, {}])
        expectRefusal(
          await post(`/movements/${UNKNOWN_ID}/${action}`, body),
          404,
          'movement_not_found',
          { movement_id: UNKNOWN_ID },
        );
    },
  );

  test.each(['actions/resume', 'actions/retry', 'actions/cancel', 'reject', 'approve'])(
    'of %s is strict',
    async (action) => {
      const approval = action === 'approve' ? { compiled_plan_hash: 'a', approver_id: 'b' } : {};
      expectInvalid(
        await post(`/movements/${UNKNOWN_ID}/${action}`, { ...approval, foo: 1 }),
        'foo',
      );
    },
  );
});

describe('a path', () => {
  test.each([
    ['GET', '/nothing'],
    ['GET', '/movements/'],
    ['GET', '/Movements'],
    ['POST', `/movements/${UNKNOWN_ID}/actions/unknown`],
  ])('that no route has is 404: %s %s', async (method, path) => {
    expectRefusal(await send(method, path), 404, 'route_not_found');
  });

  test('outside the prefix is 404', async () => {
    expectRefusal(await get(`${shared.apiUrl}/v4/movements`), 404, 'route_not_found');
  });

  test.each([
    ['DELETE', '/movements', ['GET', 'POST']],
    ['PUT', '/plan-templates', ['GET', 'POST']],
    ['GET', `/movements/${UNKNOWN_ID}/approve`, ['POST']],
    ['POST', '/signers/x/expected-identity', ['PUT']],
    // Not PATCH, whose path is any key of a template.
    ['DELETE', `/plan-templates/${UNKNOWN_ID}/retire`, ['POST']],
    ['PATCH', `/plan-templates/${UNKNOWN_ID}/retire`, ['POST']],
    ['DELETE', `/plan-templates/${UNKNOWN_ID}`, ['GET', 'PATCH']],
    ['DELETE', '/plan-templates/treasury/retire', ['PATCH', 'POST']],
    ['POST', '/plan-templates/treasury/checked-transfer', ['PATCH']],
  ])('with another method is 405 and names those it takes: %s %s', async (method, path, allow) => {
    const answer = await send(method, path);
    expectRefusal(answer, 405, 'method_not_allowed', { allow });
    expect(answer.headers.get('allow')).toBe(allow.join(', '));
  });

  test.each(['/movements/x', '/movements/x/timeline', '/movements/01938a5e'])(
    'with a malformed id is 422: %s',
    async (path) => {
      expectInvalid(await get(path), 'movement_id');
    },
  );

  test('with a malformed template id is 422', async () => {
    expectInvalid(await get('/plan-templates/x'), 'template_id');
  });

  test.each(['approve', 'reject', 'actions/resume', 'actions/retry', 'actions/cancel'])(
    'with a malformed id is 422 for %s',
    async (action) => {
      const body = action === 'approve' ? { compiled_plan_hash: 'a', approver_id: 'b' } : {};
      expectInvalid(await post(`/movements/x/${action}`, body), 'movement_id');
    },
  );

  test.each([`/movements/${UNKNOWN_ID}`, `/movements/${UNKNOWN_ID}/timeline`])(
    'of an unknown movement is 404: %s',
    async (path) => {
      expectRefusal(await get(path), 404, 'movement_not_found', { movement_id: UNKNOWN_ID });
    },
  );

  test('of an approve of an unknown movement is 404', async () => {
    const body = { compiled_plan_hash: 'a', approver_id: 'b' };
    expectRefusal(await post(`/movements/${UNKNOWN_ID}/approve`, body), 404, 'movement_not_found', {
      movement_id: UNKNOWN_ID,
    });
  });
});

describe('a request id', () => {
  test('is kept when it is well-formed', async () => {
    const answer = await send('GET', '/movements?limit=1', undefined, {
      'x-request-id': 'Own-1.2_3',
    });
    expect(answer.headers.get('x-request-id')).toBe('Own-1.2_3');
  });

  test.each(['with space', 'x'.repeat(129)])('is replaced when it is not: %s', async (sent) => {
    const { headers } = await send('GET', '/nothing', undefined, { 'x-request-id': sent });
    const assigned = headers.get('x-request-id');
    expect(assigned).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
    expect(assigned).not.toBe(sent);
  });
});

describe('the service', () => {
  test('is alive', async () => {
    const body = await must(200, get(`${shared.apiUrl}/healthz`));
    expect(body).toEqual({ ok: true, service: 'fund-movement-orchestrator', api_prefix: '/v3' });
  });

  test('is ready, part by part', async () => {
    const body = await must(
      200,
      get<{ status: string; checks: Record<string, { ok: boolean }> }>(`${shared.opsUrl}/readyz`),
    );
    expect(body.status).toBe('ready');
    expect(Object.keys(body.checks).sort()).toEqual([
      'clocks',
      'migrations',
      'postgres',
      'temporal',
      'worker',
    ]);
    expect(Object.values(body.checks).every((part) => part.ok)).toBe(true);
  });

  test('shows its metrics and describes itself on the operators’ listener', async () => {
    expect(await (await fetch(`${shared.opsUrl}/metrics`)).text()).toContain('# HELP');
    const api = await must(
      200,
      get<{ openapi: string; paths: object }>(`${shared.opsUrl}/openapi.json`),
    );
    expect(api.openapi).toMatch(/^3\.1/);
    expect(Object.keys(api.paths)).toEqual(
      expect.arrayContaining(['/v3/movements', '/v3/plan-templates/{template_id}']),
    );
    expect((await fetch(`${shared.opsUrl}/docs/`)).status).toBe(200);
  });

  test('says who signs', async () => {
    expect(await must(200, get('/whoami'))).toEqual({
      client_id: shared.adminClientId,
      key_id: 'dev-admin',
      role: 'admin',
    });
  });
});
