/** Policies of automatic approval and budgets over HTTP: what is stored, refused and shown. */
import { randomUUID } from 'node:crypto';
import {
  auditOfRequest,
  expectInvalid,
  expectRefusal,
  get,
  must,
  patch,
  post,
  send,
  sendAs,
  shared,
  sql,
  type Answer,
} from '../support/http.ts';
import { issueKey } from '../support/tool.ts';

interface PolicyView {
  readonly policy_id: string;
  readonly client_id: string;
  readonly strategy_id: string;
  readonly [field: string]: unknown;
}

const PATH = '/auto-approve-policies';
const body = (more: Readonly<Record<string, unknown>> = {}) => ({
  client_id: randomUUID(),
  strategy_id: `s-${randomUUID()}`,
  ...more,
});
const created = (more?: Readonly<Record<string, unknown>>): Promise<PolicyView> =>
  must(201, post<PolicyView>(PATH, body(more)));
const FULL = {
  is_active: false,
  allowed_templates: [{ template_key: 'a/b', template_version: 3 }, { template_key: 'c' }],
  allowed_assets: ['usdc', 'USDT'],
  max_amount_per_request: '12345678901234567890.123456789012345678',
  window_hours: 720,
  max_amount_per_window: '0.10',
  max_count_per_window: 7,
};

describe('a policy', () => {
  test('is answered as it was sent, and read and listed the same', async () => {
    const sent = body(FULL);
    const policy = await must(201, post<PolicyView>(PATH, sent));
    expect(policy).toEqual({
      ...sent,
      policy_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      allowed_templates: [
        { template_key: 'a/b', template_version: 3 },
        { template_key: 'c', template_version: null },
      ],
      allowed_assets: ['USDC', 'USDT'],
      max_amount_per_window: '0.1',
      created_by: shared.adminClientId,
      created_at: expect.stringMatching(/Z$/),
      updated_at: policy['created_at'],
    });
    expect(await must(200, get(`${PATH}/${policy.policy_id}`))).toEqual(policy);
    const newer = await created();
    const listed = await must(
      200,
      sendAs<readonly PolicyView[]>(shared.keys.operator, 'GET', PATH),
    );
    const ids = listed.map(({ policy_id }) => policy_id);
    expect(listed).toContainEqual(policy);
    expect(ids.indexOf(newer.policy_id)).toBeLessThan(ids.indexOf(policy.policy_id));
  });

  test('allows nothing and limits nothing unless it says so', async () => {
    expect(await created()).toMatchObject({
      is_active: true,
      allowed_templates: [],
      allowed_assets: [],
      max_amount_per_request: null,
      window_hours: null,
      max_amount_per_window: null,
      max_count_per_window: null,
    });
  });

  test('exists once for a client and a strategy, also when it is created twice at once', async () => {
    const sent = body();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post<PolicyView>(PATH, sent)),
    );
    const [policy] = answers.filter(({ status }) => status === 201).map((answer) => answer.body);
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201, 409, 409, 409, 409, 409, 409, 409,
    ]);
    for (const answer of answers.filter(({ status }) => status === 409)) {
      expectRefusal(answer, 409, 'policy_exists', { policy_id: policy?.policy_id });
    }
    await must(201, post(PATH, { ...sent, strategy_id: 'other' }));
    await must(201, post(PATH, { ...sent, client_id: randomUUID() }));
  });

  test('changes in what is submitted', async () => {
    const policy = await created(FULL);
    const path = `${PATH}/${policy.policy_id}`;
    const active = await must(
      200,
      patch<PolicyView>(path, { is_active: true, max_count_per_window: null }),
    );
    expect(active).toEqual({
      ...policy,
      is_active: true,
      max_count_per_window: null,
      updated_at: active['updated_at'],
    });
    expect(await must(200, patch(path, {}))).toMatchObject({ is_active: true });
    expect(
      await must(200, patch(path, { window_hours: null, max_amount_per_window: null })),
    ).toMatchObject({ window_hours: null });
    expectRefusal(await patch(`${PATH}/${randomUUID()}`, {}), 404, 'policy_not_found', {
      policy_id: expect.any(String),
    });
    expectRefusal(await get(`${PATH}/${randomUUID()}`), 404, 'policy_not_found', {
      policy_id: expect.any(String),
    });
  });

  test.each([{ max_amount_per_window: '5' }, { max_count_per_window: 5 }])(
    'has no window cap without a window: %j',
    async (cap) => {
      expectRefusal(await post(PATH, body(cap)), 422, 'cap_consistency_violation');
      const policy = await created({ ...cap, window_hours: 1 });
      const path = `${PATH}/${policy.policy_id}`;
      expectRefusal(await patch(path, { window_hours: null }), 422, 'cap_consistency_violation', {
        policy_id: policy.policy_id,
      });
      expect(await must(200, get(path))).toEqual(policy);
      // The database says so by itself.
      await expect(
        sql('UPDATE auto_approve_policies SET window_hours = NULL WHERE policy_id = $1', [
          policy.policy_id,
        ]),
      ).rejects.toThrow('auto_approve_policies_window_complete');
    },
  );

  test('is refused by place where it does not fit', async () => {
    expectInvalid(await post(PATH, {}), 'client_id', 'strategy_id');
    expectInvalid(await post(PATH, body({ window_hours: 0 })), 'window_hours');
    expectInvalid(await post(PATH, body({ window_hours: 721 })), 'window_hours');
    expectInvalid(await post(PATH, body({ max_amount_per_request: 1 })), 'max_amount_per_request');
    expectInvalid(
      await post(PATH, body({ allowed_templates: [{ template_key: 'a', versions: 1 }] })),
      'allowed_templates[0].versions',
    );
    const agents = { allowed_templates: [{ template_key: 'agent/x/way' }] };
    expectInvalid(await post(PATH, body(agents)), 'allowed_templates[0].template_version');
    expectInvalid(
      await patch(`${PATH}/${randomUUID()}`, agents),
      'allowed_templates[0].template_version',
    );
    expectInvalid(await post(PATH, body({ policy_id: randomUUID() })), 'policy_id');
    expectInvalid(await patch(`${PATH}/${randomUUID()}`, { strategy_id: 'x' }), 'strategy_id');
    expectInvalid(await get(`${PATH}/nothing`), 'policy_id');
  });

  test('leaves an audit row for every change and refusal', async () => {
    const of = async (answer: Promise<Answer>): Promise<unknown> => {
      const { headers } = await answer;
      const rows = await auditOfRequest(headers.get('x-request-id') ?? '');
      return rows.map(({ action, entity_key, outcome, reason }) => ({
        action,
        entity_key,
        outcome,
        reason,
      }));
    };
    const sent = body({ window_hours: 1, max_count_per_window: 1 });
    const about = { action: 'auto_approve_policy.create', entity_key: expect.any(String) };
    expect(await of(post(PATH, sent))).toEqual([{ ...about, outcome: 'success', reason: null }]);
    expect(await of(post(PATH, sent))).toEqual([
      { ...about, outcome: 'denied', reason: 'policy_exists' },
    ]);
    const [{ policy_id } = { policy_id: '' }] = await sql<{ policy_id: string }>(
      'SELECT policy_id FROM auto_approve_policies WHERE strategy_id = $1',
      [sent.strategy_id],
    );
    const changed = { action: 'auto_approve_policy.update', entity_key: policy_id };
    expect(await of(patch(`${PATH}/${policy_id}`, { is_active: false }))).toEqual([
      { ...changed, outcome: 'success', reason: null },
    ]);
    expect(await of(patch(`${PATH}/${policy_id}`, { window_hours: null }))).toEqual([
      { ...changed, outcome: 'denied', reason: 'cap_consistency_violation' },
    ]);
  });
});

describe('the budgets of a strategy', () => {
  test('are those of active policies that cap a window', async () => {
    const strategy_id = `s-${randomUUID()}`;
    const amount = await created({
      strategy_id,
      window_hours: 24,
      max_amount_per_window: '100.50',
    });
    const count = await created({ strategy_id, window_hours: 1, max_count_per_window: 3 });
    await created({ strategy_id, window_hours: 1 });
    await created({ strategy_id, max_amount_per_request: '1' });
    await created({ strategy_id, is_active: false, window_hours: 1, max_count_per_window: 3 });
    const nothing = { reserved_amount: '0', consumed_amount: '0', count_in_window: 0 };
    const capped = {
      ...nothing,
      policy_id: amount.policy_id,
      window_hours: 24,
      max_amount_per_window: '100.5',
      max_count_per_window: null,
      available_amount: '100.5',
    };
    const counted = {
      ...nothing,
      policy_id: count.policy_id,
      window_hours: 1,
      max_amount_per_window: null,
      max_count_per_window: 3,
      available_amount: null,
    };
    expect(await must(200, get(`/budgets/${strategy_id}`))).toEqual({
      strategy_id,
      policies: [capped, counted],
    });
    const one = await must(200, get(`/budgets/${strategy_id}?client_id=${count.client_id}`));
    expect(one).toEqual({ strategy_id, policies: [counted] });
  });

  test('are none for an unknown strategy', async () => {
    expect(await must(200, get('/budgets/never-heard-of'))).toEqual({
      strategy_id: 'never-heard-of',
      policies: [],
    });
    expectInvalid(await get('/budgets/x?client_id=y'), 'client_id');
  });

  test('of another client are nothing that an agent sees', async () => {
    const agent = await issueKey(
      '--client-name',
      'budgets',
      '--key-id',
      'budgets-agent',
      '--role',
      'agent',
      '--authority-key',
      'budgets',
    );
    const { client_id } = await must(200, sendAs<{ client_id: string }>(agent, 'GET', '/whoami'));
    const strategy_id = `s-${randomUUID()}`;
    const caps = { strategy_id, window_hours: 1, max_count_per_window: 1 };
    const own = await created({ ...caps, client_id });
    const other = await created(caps);
    const seen = async (query: string) =>
      must<{ policies: PolicyView[] }>(
        200,
        sendAs(agent, 'GET', `/budgets/${strategy_id}${query}`),
      );
    for (const query of ['', `?client_id=${client_id}`]) {
      expect((await seen(query)).policies.map(({ policy_id }) => policy_id)).toEqual([
        own.policy_id,
      ]);
    }
    const refused = await sendAs(
      agent,
      'GET',
      `/budgets/${strategy_id}?client_id=${other.client_id}`,
    );
    expectRefusal(refused, 403, 'forbidden');
    expect(await auditOfRequest(refused.headers.get('x-request-id') ?? '')).toMatchObject([
      { action: 'route.call', outcome: 'denied' },
    ]);
    const all = await must<{ policies: PolicyView[] }>(200, send('GET', `/budgets/${strategy_id}`));
    expect(all.policies).toHaveLength(2);
  });
});
