/** Who may call what: every route of the table, by every kind of caller. */
import { randomUUID } from 'node:crypto';
import { commercial } from '../../api/commercial.ts';
import { withExtensions } from '../../api/extension.ts';
import { routes as base } from '../../venues/routes.ts';
import type { SigningKey } from '../../dev/stack/keys.ts';
import {
  create,
  expectRefusal,
  gated,
  must,
  register,
  send,
  sendAs,
  shared,
  sql,
  template,
  noop,
  type Answer,
} from '../support/http.ts';
import { ALL, MAP, type Role } from '../support/role-map.ts';
import { issueKey, tool } from '../support/tool.ts';

const routes = withExtensions(base, [commercial({ autoApproveDryRun: false })]);

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`;

test('the table is the contract, and no route is without roles', () => {
  expect(
    Object.fromEntries(routes.map((route) => [nameOf(route), [...route.roles].sort()])),
  ).toEqual(
    Object.fromEntries(Object.entries(MAP).map(([name, roles]) => [name, [...roles].sort()])),
  );
});

const UNKNOWN_ID = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';
const OWN = 'sweep-own';
let keys: Readonly<Record<Role | 'foreign' | 'revoked', SigningKey>>;

beforeAll(async () => {
  const [agent, foreign, revoked] = await Promise.all([
    issueKey(
      '--client-name',
      'sweep',
      '--key-id',
      'sweep-agent',
      '--role',
      'agent',
      '--authority-key',
      OWN,
    ),
    issueKey(
      '--client-name',
      'sweep',
      '--key-id',
      'sweep-foreign',
      '--role',
      'agent',
      '--authority-key',
      'sweep-other',
    ),
    issueKey('--client-name', 'sweep', '--key-id', 'sweep-revoked', '--role', 'admin'),
  ]);
  keys = { ...shared.keys, agent, foreign, revoked };
  expect(await sendAs(revoked, 'GET', '/whoami')).toMatchObject({ status: 200 });
  expect((await tool(['keys', 'revoke', '--key-id', 'sweep-revoked'])).status).toBe(0);
});

const pathOf = (path: string): string =>
  path
    .replace('{authority_key}', OWN)
    .replace(/\{(movement_id|template_id|event_id|policy_id|transfer_id|proposal_id)\}/, UNKNOWN_ID)
    .replace(/\{[a-z_]+\+?\}/g, 'nothing');
/**
 * Calls a route so that nothing can come of it: its object does not exist, or its body is missing.
 */
const call = (
  key: SigningKey,
  route: { readonly method: string; readonly path: string },
): Promise<Answer> => sendAs(key, route.method, pathOf(route.path));

describe.each(Object.entries(MAP))('%s', (name, roles) => {
  const [method = '', path = ''] = name.split(' ');
  const route = { method, path };

  test.each(ALL)('%s', async (role) => {
    const answer = await call(keys[role], route);
    if (!roles.includes(role)) expectRefusal(answer, 403, 'forbidden');
    else expect([200, 404, 422]).toContain(answer.status);
  });

  test('an agent of another namespace', async () => {
    const answer = await call(keys.foreign, route);
    if (!roles.includes('agent')) expectRefusal(answer, 403, 'forbidden');
    else if (path.includes('{authority_key}'))
      expectRefusal(answer, 403, 'agent_namespace_mismatch', {
        namespace: 'agent/sweep-other',
        requested_namespace: `agent/${OWN}`,
      });
    else expect([200, 404, 422]).toContain(answer.status);
  });

  test('a revoked key, and no key', async () => {
    expectRefusal(await call(keys.revoked, route), 401, 'unauthenticated');
    const unsigned = await fetch(`${shared.apiUrl}/v3${pathOf(path)}`, { method });
    expect(unsigned.status).toBe(401);
  });
});

test('a denial is in the audit, with the route and the key', async () => {
  const answer = await sendAs(keys.agent, 'GET', '/executors', undefined, {
    'X-Request-Id': 'sweep-denied',
  });
  expect(answer.headers.get('x-request-id')).toBe('sweep-denied');
  const rows = await sql('SELECT * FROM audit_events WHERE request_id = $1', ['sweep-denied']);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({
    action: 'route.call',
    entity_type: 'route',
    entity_key: 'listExecutors',
    outcome: 'denied',
    reason: 'forbidden',
    actor_key_id: keys.agent.keyId,
    actor_role: 'agent',
    namespace: `agent/${OWN}`,
  });
});

describe('an agent', () => {
  test('learns nothing of an operator’s movement by a key that its client has used', async () => {
    const operator = await issueKey(
      '--client-name',
      'sweep',
      '--key-id',
      'sweep-operator',
      '--role',
      'operator',
    );
    const own = await register(template([noop('a')], { template_key: `agent/${OWN}/conflicts` }));
    const common = await register(template([noop('a')]));
    const idempotency_key = randomUUID();
    const body = (template_key: string, amount: string) =>
      ({
        template_key,
        template_version: 1,
        intent: { asset: 'USDC', amount },
        idempotency_key,
      }) as const;
    const theirs = await must<{ movement_id: string }>(
      201,
      sendAs(operator, 'POST', '/movements', body(common.template_key, '1')),
    );
    const headers = { 'X-Request-Id': `conflict-${idempotency_key}` };
    const refused = await sendAs(
      keys.agent,
      'POST',
      '/movements',
      body(own.template_key, '2'),
      headers,
    );
    expectRefusal(refused, 409, 'idempotency_conflict', { fields: ['template_key'] });
    const previewed = await sendAs(keys.agent, 'POST', '/movements', body(own.template_key, '1'), {
      'Dry-Run': 'true',
    });
    expect(previewed).toMatchObject({
      status: 200,
      body: { blocking_reasons: [{ error: 'idempotency_conflict', fields: ['template_key'] }] },
    });
    expect(JSON.stringify([refused.body, previewed.body])).not.toContain(theirs.movement_id);
    expectRefusal(
      await sendAs(operator, 'POST', '/movements', body(own.template_key, '1')),
      409,
      'idempotency_conflict',
      {
        movement_id: theirs.movement_id,
        fields: ['template_key'],
      },
    );
  });

  const LOOKALIKE = 'a_b';

  test('knows who it is', async () => {
    expect(await must(200, sendAs(keys.agent, 'GET', '/whoami'))).toMatchObject({
      role: 'agent',
      namespace: `agent/${OWN}`,
    });
    expect(await must(200, sendAs(keys.agent, 'GET', `/agent-authorities/${OWN}`))).toMatchObject({
      authority_key: OWN,
      namespace: `agent/${OWN}`,
      key_id: keys.agent.keyId,
      max_notional: null,
      allowed_assets: [],
    });
  });

  test('sees and creates movements of its own namespace only', async () => {
    const own = await register(template([noop('a')], { template_key: `agent/${OWN}/route` }));
    const other = await register(
      template([noop('a')], { template_key: 'agent/sweep-other/route' }),
    );
    const common = await gated();
    const body = (key: string) => ({
      template_key: key,
      template_version: 1,
      intent: { asset: 'USDC', amount: '1' },
      strategy_id: 's',
    });
    const mine = await must<{ movement_id: string }>(
      201,
      sendAs(keys.agent, 'POST', '/movements', body(own.template_key)),
    );
    expect(mine).toMatchObject({
      auto_approve_result: { outcome: 'pending', reason: 'agent_auto_approve_skipped' },
    });
    for (const [foreign, namespace] of [
      [other, 'agent/sweep-other'],
      [common, common.template_key.split('/')[0]],
    ] as const)
      expectRefusal(
        await sendAs(keys.agent, 'POST', '/movements', body(foreign.template_key)),
        403,
        'agent_namespace_mismatch',
        { namespace: `agent/${OWN}`, requested_namespace: namespace },
      );

    const theirs = await create(other);
    for (const path of ['', '/timeline', '/graph', '/plan']) {
      expect(
        (await sendAs(keys.agent, 'GET', `/movements/${mine.movement_id}${path}`)).status,
      ).toBe(200);
      expectRefusal(
        await sendAs(keys.agent, 'GET', `/movements/${theirs.movement_id}${path}`),
        404,
        'movement_not_found',
        {
          movement_id: theirs.movement_id,
        },
      );
    }
    const { movements } = await must<{ movements: { movement_id: string }[] }>(
      200,
      sendAs(keys.agent, 'GET', '/movements?limit=200'),
    );
    expect(movements.map(({ movement_id }) => movement_id)).toEqual([mine.movement_id]);

    for (const path of ['', '/graph']) {
      expect(
        (await sendAs(keys.agent, 'GET', `/plan-templates/${own.template_id}${path}`)).status,
      ).toBe(200);
      expect(
        (await sendAs(keys.agent, 'GET', `/plan-templates/${common.template_id}${path}`)).status,
      ).toBe(200);
      expect(
        (await sendAs(keys.agent, 'GET', `/plan-templates/${other.template_id}${path}`)).status,
      ).toBe(404);
    }
    const seen = async (key: SigningKey) =>
      (
        await must<{ plan_templates: { template_key: string }[] }>(
          200,
          sendAs(key, 'GET', '/plan-templates?limit=200'),
        )
      ).plan_templates.map(({ template_key }) => template_key);
    expect(await seen(keys.agent)).toEqual(
      expect.arrayContaining([own.template_key, common.template_key]),
    );
    expect(await seen(keys.agent)).not.toContain(other.template_key);
  });

  test('does not see a namespace whose name only looks alike', async () => {
    const agent = await issueKey(
      '--client-name',
      'sweep',
      '--key-id',
      'sweep-lookalike',
      '--role',
      'agent',
      '--authority-key',
      LOOKALIKE,
    );
    const mine = await register(template([noop('a')], { template_key: `agent/${LOOKALIKE}/r` }));
    const theirs = await register(template([noop('a')], { template_key: 'agent/aXb/r' }));
    await Promise.all([create(mine), create(theirs)]);
    const { movements } = await must<{ movements: { template_key: string }[] }>(
      200,
      sendAs(agent, 'GET', '/movements'),
    );
    expect(movements.map(({ template_key }) => template_key)).toEqual([mine.template_key]);
    const { plan_templates } = await must<{ plan_templates: { template_key: string }[] }>(
      200,
      sendAs(agent, 'GET', '/plan-templates?limit=200'),
    );
    expect(plan_templates.map(({ template_key }) => template_key)).not.toContain(
      theirs.template_key,
    );
  });
});

test('an admin reads every namespace', async () => {
  expect((await send('GET', `/agent-authorities/${OWN}`)).status).toBe(200);
  expectRefusal(await send('GET', '/agent-authorities/unknown'), 404, 'agent_authority_not_found', {
    authority_key: 'unknown',
  });
});
