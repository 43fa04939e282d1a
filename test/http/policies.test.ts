/** Policies of automatic approval and budgets over HTTP: what is stored, refused and shown. */
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  act,
  auditOfRequest,
  create,
  detail,
  expectInvalid,
  expectRefusal,
  get,
  must,
  noop,
  patch,
  post,
  registered,
  run,
  send,
  sendAs,
  shared,
  sql,
  type Answer,
} from '../support/http.ts';
import { issueKey, tool } from '../support/tool.ts';

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

describe('a policy that is tried', () => {
  const time = ['--from', '2026-01-01', '--to', '2026-01-02'];
  const files: string[] = [];
  const fileWith = (content: object): string => {
    const file = join(tmpdir(), `policy-${randomUUID()}.json`);
    files.push(file);
    writeFileSync(file, JSON.stringify(content));
    return file;
  };
  afterAll(() => {
    for (const file of files) rmSync(file);
  });

  test('reports what it would have approved of what was, and approves nothing', async () => {
    const of = await registered([noop('a')]);
    const looking = await registered([
      {
        node_key: 'look',
        node_kind: 'observe',
        action_type: 'evm_balance_observe',
        executor_selector: { action_type: 'evm_balance_observe', chain_family: 'evm' },
        config: {
          chain_id: shared.chain.chainId,
          token_address: shared.chain.tokens.USDC.address,
          address: '0x00000000000000000000000000000000000dead1',
          min_increase: '1',
        },
      },
    ]);
    const strategy_id = `s-${randomUUID()}`;
    const from = new Date(Date.now() - 1_000).toISOString();
    const done = await run(of, 'COMPLETED', { strategy_id });
    const rejected = await create(of, { strategy_id });
    await must(200, act(rejected.movement_id, 'reject', {}));
    const third = await create(of, { strategy_id });
    const looks = await create(looking, { strategy_id });
    await create(of);

    const policy = {
      client_id: shared.adminClientId,
      strategy_id,
      allowed_templates: [
        { template_key: of.template_key },
        { template_key: looking.template_key, template_version: 1 },
      ],
      allowed_assets: ['usdc'],
      window_hours: 1,
      // Two movements of 10 fit, and a third one does not.
      max_amount_per_window: '25',
    };
    const to = new Date(Date.now() + 60_000).toISOString();
    const tried = async (...which: readonly string[]): Promise<unknown> => {
      const args = ['policies', 'try', ...which, '--from', from, '--to', to];
      const { status, out, err } = await tool(args);
      expect({ status, err }).toEqual({ status: 0, err: '' });
      return JSON.parse(out);
    };
    const report = await tried('--file', fileWith(policy));
    const ten = { asset: 'USDC', amount: '10', outflow_amount: '10' };
    expect(report).toEqual({
      client_id: shared.adminClientId,
      strategy_id,
      from,
      to,
      movements: 4,
      totals: {
        approves: 2,
        waits: 2,
        by_reason: { policy_passed: 2, window_amount_exceeded: 1, no_sending_node: 1 },
        amount_approved: { USDC: '20' },
        rejected: 1,
        approved_automatically: 0,
      },
      by_agents: 0,
      listed: [
        {
          movement_id: done.movement_id,
          created_at: done.created_at,
          template_key: of.template_key,
          template_version: 1,
          ...ten,
          state: 'COMPLETED',
          became: 'person',
          would: 'approves',
          reason: 'policy_passed',
        },
        expect.objectContaining({
          ...ten,
          movement_id: rejected.movement_id,
          state: 'REJECTED',
          became: null,
          would: 'approves',
          reason: 'policy_passed',
        }),
        expect.objectContaining({
          ...ten,
          movement_id: third.movement_id,
          state: 'PENDING_APPROVAL',
          became: null,
          would: 'waits',
          reason: 'window_amount_exceeded',
        }),
        expect.objectContaining({
          ...ten,
          movement_id: looks.movement_id,
          became: null,
          would: 'waits',
          reason: 'no_sending_node',
        }),
      ],
    });

    // One that is stored, before it is switched on.
    const { policy_id } = await created({ ...policy, is_active: false });
    expect(await tried('--policy', policy_id)).toEqual(report);
    for (const { movement_id } of [third, looks]) {
      expect((await detail(movement_id)).request_state).toBe('PENDING_APPROVAL');
      await must(200, act(movement_id, 'reject', {}));
    }
  });

  test.each<[string, readonly string[], number, string]>([
    ['no policy', [], 2, 'either --policy or --file'],
    ['two policies', ['--policy', randomUUID(), '--file', 'x'], 2, 'either --policy or --file'],
    ['no id', ['--policy', 'x'], 2, 'must be the id of a policy'],
    ['an unknown id', ['--policy', randomUUID()], 1, 'There is no policy'],
    ['no such file', ['--file', join(tmpdir(), randomUUID())], 2, 'cannot be read'],
  ])('must be one: %s', async (_what, which, status, error) => {
    expect(await tool(['policies', 'try', ...which, ...time])).toEqual({
      status,
      out: '',
      err: expect.stringContaining(error),
    });
  });

  test('must fit, and the time must not be empty', async () => {
    const file = fileWith({ window_hours: 0, limit: 1 });
    const { status, err } = await tool(['policies', 'try', '--file', file, ...time]);
    expect(status).toBe(2);
    expect(err).toMatch(/^The policy does not fit:\n(?=[^]*^client_id: )(?=[^]*^window_hours: )/m);
    const fits = fileWith(body());
    const empty = ['--from', '2026-01-02', '--to', '2026-01-02'];
    expect(await tool(['policies', 'try', '--file', fits, ...empty])).toMatchObject({
      status: 2,
      err: '--from must be before --to.\n',
    });
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
