/**
 * The API's table under `/dashboard/api`: the same answers and the same rights for an operator of
 * the dashboard as for a key of that role, and what only that door asks.
 */
import { randomUUID } from 'node:crypto';
import { get as httpGet } from 'node:http';
import { commercial } from '../../api/commercial.ts';
import { withExtensions } from '../../api/extension.ts';
import { routes as base } from '../../venues/routes.ts';
import {
  CONSOLE,
  dashboardHeaders,
  issuedNonce,
  OPERATORS,
  ROWS,
  sendConsole,
  sendOnce,
  toDashboard,
} from '../support/dashboard.ts';
import {
  auditOfRequest,
  edge,
  expectRefusal,
  gate,
  gated,
  must,
  noop,
  registered,
  sendAs,
  shared,
  sql,
  type Answer,
  type CreatedView,
  type DetailView,
} from '../support/http.ts';
import { MAP } from '../support/role-map.ts';

const routes = withExtensions(base, [commercial({ autoApproveDryRun: false })]);
const UNKNOWN_ID = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';
const pathOf = (path: string): string =>
  path
    .replace(/\{(movement_id|template_id|event_id|policy_id|transfer_id|proposal_id)\}/, UNKNOWN_ID)
    .replace(/\{[a-z_]+\+?\}/g, 'nothing');
const errorOf = ({ body }: Answer): unknown =>
  (body as { detail?: { error?: unknown } } | null)?.detail?.error ?? null;

describe.each(Object.entries(MAP))('%s', (name, roles) => {
  const [method = '', path = ''] = name.split(' ');

  test.each(['operator', 'admin'] as const)('decides as for a key: %s', async (role) => {
    const [first, second] = await Promise.all([
      sendAs(shared.keys[role], method, pathOf(path)),
      sendConsole(method, pathOf(path), undefined, { operator: OPERATORS[role] }),
    ]);
    expect([second.status, errorOf(second)]).toEqual([first.status, errorOf(first)]);
    if (roles.includes(role)) expect([200, 404, 422]).toContain(second.status);
    else expectRefusal(second, 403, 'forbidden');
    if (second.status === 200 && !Array.isArray(first.body))
      expect(Object.keys(second.body as object).filter((key) => key !== 'dashboard')).toEqual(
        Object.keys(first.body as object),
      );
  });

  test('is read, and no more, with the allowlist alone', async () => {
    const answer = await sendConsole(method, pathOf(path), undefined, {
      operator: OPERATORS.allowlist,
    });
    if (method === 'GET' && roles.includes('operator'))
      expect([200, 404, 422]).toContain(answer.status);
    else expectRefusal(answer, 403, 'forbidden');
  });
});

test('which reads have an effect is known', () => {
  const acting = routes.filter(({ method, acts }) => method === 'GET' && acts !== 'never');
  expect(acting.map(({ id, acts }) => [id, typeof acts])).toEqual([
    ['listBalances', 'function'],
    ['getEmergencyState', 'string'],
  ]);
  const [{ acts } = { acts: 'never' }] = acting;
  if (typeof acts !== 'function') throw new Error('it does not say when');
  expect([{}, { fresh: false }, { fresh: true }].map(acts)).toEqual([false, false, true]);
});

describe('an operator', () => {
  const operator = OPERATORS.operator;
  const id = `dashboard:${operator}`;
  const body = (template: { readonly template_key: string }, idempotency_key?: string) => ({
    template_key: template.template_key,
    template_version: 1,
    intent: { asset: 'USDC', amount: '1' },
    strategy_id: 'console',
    ...(idempotency_key === undefined ? {} : { idempotency_key }),
  });

  test.each(Object.entries(OPERATORS))('knows that it is %s', async (role, name) => {
    expect(await must(200, sendConsole('GET', '/whoami', undefined, { operator: name }))).toEqual({
      client_id: `dashboard:${name}`,
      key_id: `dashboard:${name}`,
      role,
      dashboard: { operator: name, allowlist: role === 'allowlist' },
    });
  });

  test('creates, repeats, approves and cancels under one name', async () => {
    // It waits until the cancel comes, however late that is.
    const template = await registered(
      [gate('check'), noop('pay'), { ...noop('undo'), node_kind: 'compensation' }],
      { edges: [edge('check', 'pay'), edge('pay', 'undo', 'on_cancel')] },
    );
    const key = randomUUID();
    const asOperator = <T>(method: string, path: string, sent?: unknown, request_id = 'none') =>
      sendConsole<T>(method, path, sent, { operator, headers: { 'x-request-id': request_id } });
    const previewed = await asOperator('POST', '/movements?dry_run=true', body(template, key));
    expect(previewed).toMatchObject({ status: 200 });
    const made = await must<CreatedView>(
      201,
      asOperator('POST', '/movements', body(template, key), `made-${key}`),
    );
    const again = await asOperator<CreatedView>('POST', '/movements', body(template, key));
    expect([again.headers.get('idempotent-replayed'), again.body.movement_id]).toEqual([
      'true',
      made.movement_id,
    ]);
    // The key of another client, and of another operator, is another key.
    const others = await Promise.all([
      sendAs<CreatedView>(shared.keys.operator, 'POST', '/movements', body(template, key)),
      sendConsole<CreatedView>('POST', '/movements', body(template, key), {
        operator: OPERATORS.admin,
      }),
    ]);
    expect(others.map(({ status }) => status)).toEqual([201, 201]);

    const path = `/movements/${made.movement_id}`;
    const approved = await asOperator(
      'POST',
      `${path}/approve`,
      { compiled_plan_hash: made.compiled_plan_hash, approver_id: 'someone' },
      `approved-${key}`,
    );
    expect(approved.status).toBe(200);
    expect((await asOperator('POST', `${path}/actions/cancel`)).status).toBe(200);
    const rows = [
      ...(await auditOfRequest(`made-${key}`)),
      ...(await auditOfRequest(`approved-${key}`)),
    ];
    expect(rows.map(({ action }) => action)).toEqual(['movement.create', 'movement.approve']);
    expect(
      await sql(
        "SELECT DISTINCT actor_client_id, actor_key_id, actor_role FROM audit_events WHERE entity_key = $1 AND action LIKE 'movement.%'",
        [made.movement_id],
      ),
    ).toEqual([{ actor_client_id: id, actor_key_id: id, actor_role: 'operator' }]);
    expect(
      await sql('SELECT client_scope FROM movements WHERE movement_id = $1', [made.movement_id]),
    ).toEqual([{ client_scope: id }]);
    expect(
      await sql(
        "SELECT DISTINCT actor ->> 'client_id' AS by FROM timeline_events WHERE movement_id = $1 AND actor ->> 'type' = 'key'",
        [made.movement_id],
      ),
    ).toEqual([{ by: id }]);
    expect(
      await must(200, sendAs(shared.keys.admin, 'GET', `/audit/events?actor_client_id=${id}`)),
    ).toMatchObject({ events: expect.arrayContaining([expect.any(Object)]) });
  });

  test('is offered nothing that it may not do', async () => {
    const made = await must<CreatedView>(
      201,
      sendAs(shared.keys.admin, 'POST', '/movements', body(await gated())),
    );
    const offered = async (name: string) =>
      (
        await must<DetailView & { attention: { actions: readonly unknown[] } | null }>(
          200,
          sendConsole('GET', `/movements/${made.movement_id}`, undefined, { operator: name }),
        )
      ).attention?.actions.length;
    expect(await offered(OPERATORS.allowlist)).toBe(0);
    expect(await offered(operator)).toBeGreaterThan(0);
  });

  test('without the right does not write the allowlist, and that is recorded', async () => {
    const text = JSON.stringify({
      chain_family: 'evm',
      address: `0x${'a'.repeat(40)}`,
      reason: 'x',
    });
    const headers = {
      ...dashboardHeaders('POST', ROWS, text, { operator }),
      'x-request-id': `no-list-${randomUUID()}`,
    };
    expectRefusal(await toDashboard('POST', ROWS, text, headers), 403, 'forbidden');
    expect(await auditOfRequest(headers['x-request-id'])).toMatchObject([
      { action: 'route.call', outcome: 'denied', entity_key: 'allowAddress' },
    ]);
  });

  test('must retry later beyond 20 a second, and never sees 429', async () => {
    const name = 'ops-4';
    const nonces = await Promise.all(Array.from({ length: 60 }, issuedNonce));
    const answers = await Promise.all(
      nonces.map((nonce) => sendOnce('GET', '/whoami', undefined, { operator: name, nonce })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expectRefusal(answer, 503, 'overloaded');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // Another operator is not held up by it, and the allowlist is written as ever.
    expect((await sendOnce('GET', '/whoami', undefined, { operator: 'ops-3' })).status).toBe(200);
    const writes = await Promise.all(
      Array.from({ length: 25 }, () =>
        toDashboard('POST', `${ROWS}/${UNKNOWN_ID}/revoke`, { reason: 'x' }),
      ),
    );
    expect(new Set(writes.map(({ status }) => status))).toEqual(new Set([404]));
  });
});

describe('a request of the second door', () => {
  const whoami = (signing: Parameters<typeof sendOnce>[3] = {}): Promise<Answer> =>
    sendOnce('GET', '/whoami', undefined, { operator: 'ops-2', ...signing });
  const refused = (answer: Answer) => expectRefusal(answer, 401, 'unauthenticated');

  test('needs a nonce of the service, once', async () => {
    const nonce = await issuedNonce();
    const [head = '', , mac = ''] = nonce.split('.');
    refused(await whoami({ nonce: randomUUID() }));
    refused(await whoami({ nonce: `${head}.${'A'.repeat(22)}.${mac}` }));
    expect((await whoami({ nonce })).status).toBe(200);
    refused(await whoami({ nonce }));
    refused(await whoami({ nonce, operator: 'ops-3' }));
  });

  test('is signed over its whole path, and by no key of the API', async () => {
    const nonce = await issuedNonce();
    const headers = dashboardHeaders('GET', '/whoami', '', { operator: 'ops-2', nonce });
    refused(await toDashboardApi('/dashboard/api/whoami', headers));
    refused(await sendAs(shared.keys.admin, 'GET', `${CONSOLE}/dashboard/api/whoami`));
    refused(await toDashboardApi('/dashboard/api/whoami', {}));
  });

  const toDashboardApi = async (path: string, headers: Record<string, string>): Promise<Answer> => {
    const response = await fetch(CONSOLE + path, { headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  test.each(['evil.example', '127.0.0.1', 'localhost', 'localhost:1', 'localhost.'])(
    'is not taken under the name %s, whatever a proxy says',
    async (host) => {
      for (const path of ['/dashboard/api/whoami', '/dashboard/nonce'])
        expect(await statusUnder(path, host)).toBe(403);
    },
  );

  test.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])(
    'for the allowlist, unsigned, is not from this machine with %s',
    async (name) => {
      expectRefusal(
        await toDashboard('GET', ROWS, undefined, { [name]: '127.0.0.1' }),
        403,
        'forbidden',
      );
      const signed = dashboardHeaders('GET', ROWS, '', { nonce: await issuedNonce() });
      const answer = await toDashboard('GET', ROWS, undefined, { ...signed, [name]: '127.0.0.1' });
      expect(answer.status).toBe(200);
    },
  );
});

/** The status of a GET with `host` as Host, and the console's in what a proxy would say. */
function statusUnder(path: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...{ host, 'x-forwarded-host': new URL(CONSOLE).host, forwarded: `host=${CONSOLE}` },
    };
    const sent = httpGet(shared.apiUrl + path, { headers }, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode ?? 0);
      });
    });
    sent.on('error', reject);
  });
}
