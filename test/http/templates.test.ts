/** Plan templates over HTTP. */
import {
  auditOfRequest,
  edge,
  expectInvalid,
  expectRefusal,
  gate,
  get,
  must,
  noop,
  patch,
  post,
  register,
  registered,
  send,
  sql,
  template,
  transfer,
  uniqueKey,
  type ErrorBody,
  type TemplateView,
  shared,
} from '../support/http.ts';

const UNKNOWN_ID = '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10';

interface Page {
  readonly plan_templates: readonly TemplateView[];
  readonly next_cursor: string | null;
}

describe('registering a template', () => {
  test('answers 201 with what the engine makes of it', async () => {
    const body = template([noop('a'), noop('b')]);
    expect(await register(body)).toEqual({
      template_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      template_key: body.template_key,
      version: 1,
      graph_shape: 'linear',
      requires_graph_runtime: false,
      executable_in_v3_0: true,
      non_executable_reasons: [],
      completion_policy: { completion_assurance: 'provider_completed' },
    });
  });

  test('keeps everything that was sent', async () => {
    const node = noop('a', {
      executor_selector: { action_type: 'noop' },
      input_schema: { type: 'object', anything: [1] },
      config: { amount: '1.50', deep: { er: true } },
      timeout_policy: { execution_seconds: 5 },
      retry_policy: { max_attempts: 2 },
      risk_patch: { max_amount: '5' },
    });
    const body = template([node, noop('b')], {
      owner: 'treasury',
      approval_policy: { required_approvals: 2 },
      risk_controls: { max_amount: '10', own: 1 },
    });
    const { template_id } = await register(body);
    const view = await must(200, get<TemplateView>(`/plan-templates/${template_id}`));
    expect(view).toMatchObject({
      template_id,
      name: body.name,
      owner: 'treasury',
      approval_policy: { required_approvals: 2 },
      risk_controls: { max_amount: '10', own: 1 },
      nodes: [
        { ...node, has_side_effect: false, signer_selector: null },
        { ...noop('b'), config: null },
      ],
      edges: [{ ...edge('a', 'b'), priority: 0, condition_expr: null, join_key: null }],
      auto_approve_enabled: false,
      daily_cap_amount: null,
      daily_cap_asset: null,
      created_by: shared.adminClientId,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    for (const part of [
      ...(view['nodes'] as { id: string }[]),
      ...(view['edges'] as { id: string }[]),
    ])
      expect(part.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('takes further versions of a key, and each only once', async () => {
    const body = template([noop('a')]);
    await register(body);
    await register({ ...body, version: 2 });
    const again = await post('/plan-templates', body, { 'x-request-id': `again-${UNKNOWN_ID}` });
    expectRefusal(again, 409, 'template_version_exists', {
      template_key: body.template_key,
      version: 1,
    });
    expect(await auditOfRequest(`again-${UNKNOWN_ID}`)).toEqual([
      expect.objectContaining({
        action: 'plan_template.create',
        outcome: 'denied',
        entity_key: body.template_key,
      }),
    ]);
  });

  test('of a family that only the service registers is 422, whatever it is made of', async () => {
    const template_key = `system/${uniqueKey('own')}`;
    const body = { ...template([noop('a')]), template_key };
    expectRefusal(await post('/plan-templates', body), 422, 'reserved_template_family', {
      template_key,
    });
  });

  test('once at a time lets one of two win', async () => {
    const body = template([noop('a')]);
    const answers = await Promise.all([
      post('/plan-templates', body),
      post('/plan-templates', body),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409]);
  });

  test('without a completion policy is 422', async () => {
    const { completion_policy: _, ...body } = template([noop('a')]);
    for (const bad of [
      body,
      { ...body, completion_policy: null },
      { ...body, completion_policy: {} },
    ])
      expectRefusal(await post('/plan-templates', bad), 422, 'completion_policy_missing');
  });

  test.each([
    ['nothing', [], [], [{ problem: 'empty_graph' }]],
    [
      'a key used twice',
      [noop('a'), noop('a')],
      [],
      [{ problem: 'duplicate_node_key', node_key: 'a' }],
    ],
    [
      'an edge to nowhere',
      [noop('a')],
      [edge('a', 'x')],
      [{ problem: 'unknown_endpoint', node_key: 'x', edge: 'a->x' }],
    ],
    [
      'an edge back to its node',
      [noop('a')],
      [edge('a', 'a')],
      [{ problem: 'self_loop', node_key: 'a', edge: 'a->a' }],
    ],
    [
      'a duplicate edge',
      [noop('a'), noop('b')],
      [edge('a', 'b'), edge('a', 'b')],
      [{ problem: 'duplicate_edge', edge: 'a->b' }],
    ],
    [
      'a cycle behind a root',
      [noop('r'), noop('a'), noop('b')],
      [edge('r', 'a'), edge('a', 'b'), edge('b', 'a')],
      [{ problem: 'cycle', node_keys: ['a', 'b'] }],
    ],
    ['two parts', [noop('a'), noop('b')], [], [{ problem: 'disconnected', node_key: 'b' }]],
    [
      'no root',
      [noop('a'), noop('b')],
      [edge('a', 'b'), edge('b', 'a')],
      [{ problem: 'cycle', node_keys: ['a', 'b'] }, { problem: 'no_root' }],
    ],
    [
      'several faults at once',
      [noop('a'), noop('b'), noop('b')],
      [edge('a', 'a'), edge('a', 'y')],
      [
        { problem: 'duplicate_node_key', node_key: 'b' },
        { problem: 'self_loop', node_key: 'a', edge: 'a->a' },
        { problem: 'unknown_endpoint', node_key: 'y', edge: 'a->y' },
        { problem: 'disconnected', node_key: 'b' },
      ],
    ],
  ])('with a graph of %s is 422 and lists the problems', async (_what, nodes, edges, problems) => {
    expectRefusal(await post('/plan-templates', template(nodes, { edges })), 422, 'graph_invalid', {
      problems,
    });
  });

  test('with a graph of more than a hundred faults lists a hundred', async () => {
    const keys = Array.from({ length: 120 }, (_, index) => `n${String(index)}`);
    const edges = keys
      .slice(1)
      .flatMap((key, index) => [edge(keys[index] ?? '', key), edge(key, 'n0')]);
    const nodes = keys.map((key) => noop(key));
    const { status, body } = await post<ErrorBody>('/plan-templates', template(nodes, { edges }));
    expect([status, body.detail.error]).toEqual([422, 'graph_invalid']);
    expect(body.detail['problems']).toHaveLength(100);
  });

  test.each([
    ['linear', [noop('a')], []],
    ['split', [noop('a'), noop('b'), noop('c')], [edge('a', 'b'), edge('a', 'c')]],
    [
      'branching',
      [noop('a'), noop('b'), noop('c')],
      [edge('a', 'b'), edge('a', 'c', 'on_failure')],
    ],
    ['merging', [noop('a'), noop('b'), noop('c')], [edge('a', 'c'), edge('b', 'c')]],
    ['hybrid', [noop('a'), noop('b'), noop('c')], [edge('a', 'b'), edge('a', 'c'), edge('b', 'c')]],
  ])('tells the shape %s', async (shape, nodes, edges) => {
    const view = await registered(nodes, { edges });
    expect(view).toMatchObject({
      graph_shape: shape,
      requires_graph_runtime: shape !== 'linear',
      executable_in_v3_0: true,
    });
  });

  test('names the place of each fault', async () => {
    const nodes = [noop('a'), noop('b'), { ...noop(''), node_kind: 'nothing' }];
    expectInvalid(
      await post(
        '/plan-templates',
        template(nodes, { edges: [edge('a', 'b', 'on_luck')], version: 0 }),
      ),
      'version',
      'nodes[2].node_key',
      'nodes[2].node_kind',
      'edges[0].edge_type',
    );
  });

  test.each([
    ['extra', { extra: 1 }],
    ['nodes[0].extra', { nodes: [noop('a', { extra: 1 })] }],
    ['nodes[0].timeout_policy.extra', { nodes: [noop('a', { timeout_policy: { extra: 1 } })] }],
    [
      'nodes[0].executor_selector.extra',
      { nodes: [noop('a', { executor_selector: { action_type: 'noop', extra: 1 } })] },
    ],
    [
      'completion_policy.extra',
      { completion_policy: { completion_assurance: 'provider_completed', extra: 1 } },
    ],
    [
      'completion_policy.completion_assurance',
      { completion_policy: { completion_assurance: 'perhaps' } },
    ],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(257) }],
    ['owner', { owner: 'x'.repeat(129) }],
    ['version', { version: 2_147_483_648 }],
    ['version', { version: 1.5 }],
    ['template_key', { template_key: 'x'.repeat(257) }],
    ['risk_controls.max_amount', { risk_controls: { max_amount: 10 } }],
    ['risk_controls.min_amount', { risk_controls: { min_amount: '1e3' } }],
    [
      'nodes[0].risk_patch.max_amount',
      {
        nodes: [noop('a', { risk_patch: { max_amount: '11' } })],
        risk_controls: { max_amount: '10' },
      },
    ],
    ['nodes', { nodes: Array.from({ length: 201 }, (_, index) => noop(`n${index}`)) }],
    ['edges', { edges: Array.from({ length: 1_001 }, () => edge('a', 'a')) }],
  ])('refuses a bad %s', async (path, change) => {
    expectInvalid(await post('/plan-templates', template([noop('a')], change)), path);
  });

  test.each([
    '/a',
    'a/',
    'a//b',
    'a/./b',
    '../a',
    'a%2Fb',
    'a\\b',
    'a#b',
    'a?b',
    'a\nb',
    'a\u0085b',
    '',
  ])('refuses the key %j', async (template_key) => {
    const { status, body } = await post<ErrorBody>(
      '/plan-templates',
      template([noop('a')], { template_key }),
    );
    expect([status, body.detail.issues?.[0]?.path]).toEqual([422, 'template_key']);
  });

  test.each(['a/b', 'a%b', 'a\\b', 'a#b', 'a?b', '.', '..', 'a\nb', 'a\u0085b'])(
    'refuses the node key %j, which no path could name',
    async (node_key) => {
      expectInvalid(await post('/plan-templates', template([noop(node_key)])), 'nodes[0].node_key');
    },
  );

  test('a node key may be anything that a path can name', async () => {
    const { template_id } = await registered([noop('a b.c:ä+@"…')]);
    expect(await get(`/plan-templates/${template_id}`)).toMatchObject({
      status: 200,
      body: { nodes: [{ node_key: 'a b.c:ä+@"…' }] },
    });
  });
});

describe('a version that cannot be executed', () => {
  test.each([
    [
      'timeout_edge_without_timeout:a->b',
      [noop('a'), noop('b')],
      { edges: [edge('a', 'b', 'on_timeout')] },
    ],
    [
      'compensation_on_success_path:a->b',
      [noop('a'), { ...noop('b'), node_kind: 'compensation' }],
      {},
    ],
    ['signer_selector_missing:a', [transfer('a', { signer_selector: null })], {}],
    [
      'selector_action_mismatch:a',
      [noop('a', { executor_selector: { action_type: 'test_switched' } })],
      {},
    ],
    ['gate_with_side_effect:a', [gate('a', { has_side_effect: true })], {}],
    ['unknown_amount_ref:a', [noop('a', { config: { amount_ref: 'nodes.x.output.amount' } })], {}],
    ['unknown_amount_ref:a', [noop('a', { config: { amount: 5 } })], {}],
    ['unknown_match_from:b', [noop('a'), noop('b', { config: { match_from: 'x' } })], {}],
    [
      'condition_invalid:a->b',
      [noop('a'), noop('b')],
      { edges: [edge('a', 'b', 'on_success', { condition_expr: 'intent.amount > "9"' })] },
    ],
    [
      'condition_invalid:a->b',
      [noop('a'), noop('b')],
      {
        edges: [
          edge('a', 'b', 'on_success', { condition_expr: "nodes['b'].state == 'COMPLETED'" }),
        ],
      },
    ],
  ])('is stored with the reason %s and refuses movements', async (reason, nodes, more) => {
    const view = await registered(nodes, more);
    expect([view.executable_in_v3_0, view.non_executable_reasons]).toEqual([false, [reason]]);
    const { template_key, version } = view;
    const answer = await post('/movements', {
      template_key,
      template_version: version,
      intent: { asset: 'USDC', amount: '1' },
    });
    expectRefusal(answer, 409, 'template_not_executable', {
      template_key,
      template_version: version,
      reasons: [reason],
    });
  });
});

describe('reading templates', () => {
  test('answers 404 for an unknown id', async () => {
    expectRefusal(await get(`/plan-templates/${UNKNOWN_ID}`), 404, 'template_not_found', {
      template_id: UNKNOWN_ID,
    });
  });

  test('pages through the versions of a key, newest first, undisturbed by new ones', async () => {
    const body = template([noop('a')]);
    for (const version of [1, 2, 3, 4]) await register({ ...body, version });
    const path = `/plan-templates?limit=3&template_key=${encodeURIComponent(body.template_key)}`;
    const first = await must(200, get<Page>(path));
    await register({ ...body, version: 5 });
    const second = await must(200, get<Page>(`${path}&cursor=${first.next_cursor ?? ''}`));
    expect([...first.plan_templates, ...second.plan_templates].map((each) => each.version)).toEqual(
      [4, 3, 2, 1],
    );
    expect(second.next_cursor).toBeNull();
  });

  test('filters by whether they can be executed', async () => {
    const body = template([noop('a')]);
    await register(body);
    await register({ ...body, version: 2, nodes: [gate('a', { has_side_effect: true })] });
    const versions = async (executable: boolean): Promise<number[]> => {
      const path = `/plan-templates?template_key=${encodeURIComponent(body.template_key)}&executable=${executable}`;
      return (await must(200, get<Page>(path))).plan_templates.map((each) => each.version);
    };
    expect([await versions(true), await versions(false)]).toEqual([[1], [2]]);
  });

  test.each([
    ['limit', 'limit=0'],
    ['limit', 'limit=201'],
    ['limit', 'limit=x'],
    ['cursor', 'cursor=x'],
    ['executable', 'executable=yes'],
    ['unknown', 'unknown=1'],
    ['limit', 'limit=1&limit=2'],
  ])('refuses a bad %s: %s', async (path, query) => {
    expectInvalid(await get(`/plan-templates?${query}`), path);
  });
});

describe('the admin fields of a key', () => {
  test('change for a key with slashes, and only those that were sent', async () => {
    const { template_key } = await register(
      template([noop('a')], { template_key: `${uniqueKey()}/deep/er` }),
    );
    await register(template([noop('a')], { template_key, version: 7 }));
    const caps = { daily_cap_amount: '1000.500', daily_cap_asset: 'usdc' };
    const set = await must(
      200,
      patch(`/plan-templates/${template_key}`, { auto_approve_enabled: true, ...caps }),
    );
    const expected = {
      template_key,
      latest_version: 7,
      auto_approve_enabled: true,
      daily_cap_amount: '1000.5',
      daily_cap_asset: 'USDC',
    };
    expect(set).toEqual({ ...expected, updated_at: expect.stringMatching(/Z$/) });
    expect(
      await must(200, patch(`/plan-templates/${template_key}`, { auto_approve_enabled: false })),
    ).toMatchObject({
      ...expected,
      auto_approve_enabled: false,
    });
    expect(
      await must(200, patch(`/plan-templates/${template_key}`, { daily_cap_asset: null })),
    ).toMatchObject({ daily_cap_asset: null });
  });

  test('without caps are 422, recorded as denied, and change nothing', async () => {
    const { template_key, template_id } = await registered([noop('a')]);
    const request = `caps-${template_id}`;
    const answer = await send(
      'PATCH',
      `/plan-templates/${template_key}`,
      { auto_approve_enabled: true, daily_cap_amount: '5' },
      { 'x-request-id': request },
    );
    expectRefusal(answer, 422, 'cap_consistency_violation', { template_key });
    expect(await auditOfRequest(request)).toEqual([
      expect.objectContaining({
        action: 'plan_template.update_admin_fields',
        outcome: 'denied',
        entity_key: template_key,
      }),
    ]);
    const view = await must(200, get<TemplateView>(`/plan-templates/${template_id}`));
    expect(view).toMatchObject({ auto_approve_enabled: false, daily_cap_amount: null });
  });

  test('cannot lose a cap while they are on', async () => {
    const { template_key } = await registered([noop('a')]);
    await must(
      200,
      patch(`/plan-templates/${template_key}`, {
        auto_approve_enabled: true,
        daily_cap_amount: '5',
        daily_cap_asset: 'A',
      }),
    );
    expectRefusal(
      await patch(`/plan-templates/${template_key}`, { daily_cap_amount: null }),
      422,
      'cap_consistency_violation',
      {
        template_key,
      },
    );
  });

  test('are guarded by the database itself', async () => {
    const { template_key } = await registered([noop('a')]);
    await expect(
      sql('UPDATE plan_templates SET auto_approve_enabled = true WHERE template_key = $1', [
        template_key,
      ]),
    ).rejects.toMatchObject({
      constraint: 'plan_templates_caps_complete',
    });
  });

  test('of an unknown key are 404', async () => {
    const template_key = uniqueKey('unknown');
    expectRefusal(await patch(`/plan-templates/${template_key}`, {}), 404, 'template_not_found', {
      template_key,
    });
  });

  test.each([
    ['daily_cap_amount', { daily_cap_amount: -1 }],
    ['daily_cap_amount', { daily_cap_amount: '1e5' }],
    ['auto_approve_enabled', { auto_approve_enabled: 'yes' }],
    ['daily_cap_asset', { daily_cap_asset: '' }],
    ['extra', { extra: 1 }],
  ])('refuse a bad %s', async (path, body) => {
    const { template_key } = await registered([noop('a')]);
    expectInvalid(await patch(`/plan-templates/${template_key}`, body), path);
  });

  test.each(['a%23b', 'a%3Fb', 'a%7Fb'])('refuse a key with what no key has: %s', async (key) => {
    const answer = await patch(`/plan-templates/${key}`, {});
    expect([400, 422]).toContain(answer.status);
  });
});

test('versions, their nodes and edges never change', async () => {
  const { template_id } = await registered([noop('a'), noop('b')]);
  for (const table of ['plan_template_versions', 'plan_nodes', 'plan_edges']) {
    await expect(
      sql(`DELETE FROM ${table} WHERE template_id = $1`, [template_id]),
    ).rejects.toThrow();
  }
});
