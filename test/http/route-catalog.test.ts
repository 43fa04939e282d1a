/** The route catalog over HTTP. */
import {
  expectInvalid,
  gate,
  get,
  must,
  noop,
  patch,
  register,
  run,
  sendAs,
  sql,
  template,
  transfer,
  uniqueKey,
  withdrawal,
  type TemplateView,
} from '../support/http.ts';
import { issueKey } from '../support/tool.ts';

interface RouteView {
  readonly template_key: string;
  readonly version: number;
  readonly executable: boolean;
  readonly health?: {
    readonly status: string;
    readonly executors: readonly { executor_key: string; health_state: string }[];
  };
  readonly [field: string]: unknown;
}
interface Catalog {
  readonly routes: readonly RouteView[];
  readonly generated_at: string;
}

const catalog = (query = ''): Promise<Catalog> => must(200, get<Catalog>(`/route-catalog${query}`));
const routeOf = async (
  of: { readonly template_key: string; readonly version: number },
  query = '',
): Promise<RouteView | undefined> =>
  (await catalog(query)).routes.find(
    (route) => route.template_key === of.template_key && route.version === of.version,
  );
/** A node that only an executor of this action type can run. */
const of = (node_key: string, action_type: string) => noop(node_key, { action_type });

test('a version is shown with everything that its plan says', async () => {
  const view = await register(
    template(
      [
        withdrawal('out'),
        gate('check'),
        transfer('on', {
          config: { ...(transfer('on')['config'] as object), destination_venue: 'vault' },
        }),
      ],
      {
        name: 'Out and on',
        risk_controls: {
          max_amount: '10.50',
          min_amount: '1',
          expected_fee: '0.1',
          max_fee_pct: 2,
          hardcap_usd: '5',
        },
      },
    ),
  );
  const route = await routeOf(view);
  expect(route).toEqual({
    template_key: view.template_key,
    name: 'Out and on',
    version: 1,
    graph_shape: 'linear',
    node_count: 3,
    executable: true,
    metadata: {
      transport_family: 'mixed',
      source_venue: 'paper-sub-a',
      destination_venue: 'vault',
      asset: 'USDC',
    },
    bridge: null,
    stats: null,
    fee_policy: { expected_fee: '0.1', max_fee_pct: 2 },
    risk_controls: { max_amount: '10.50', min_amount: '1' },
  });
});

test('versions of a key come in order, each as a route of its own', async () => {
  const template_key = uniqueKey();
  for (const version of [10, 9, 1])
    await register(template([noop('a')], { template_key, version, name: `v${String(version)}` }));
  const { routes, generated_at } = await catalog();
  const own = routes.filter((route) => route.template_key === template_key);
  expect(own.map(({ version, name }) => [version, name])).toEqual([
    [1, 'v1'],
    [9, 'v9'],
    [10, 'v10'],
  ]);
  const keys = routes.map((route) => route.template_key);
  expect(keys).toEqual([...keys].sort());
  expect(generated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('status shows what can be executed, what cannot, or all', async () => {
  const good = await register(template([noop('a')]));
  const bad = await register(template([transfer('a', { signer_selector: null })]));
  const seen = async (query: string): Promise<readonly boolean[]> => [
    (await routeOf(good, query)) !== undefined,
    (await routeOf(bad, query)) !== undefined,
  ];
  expect(await seen('')).toEqual([true, true]);
  expect(await seen('?status=all')).toEqual([true, true]);
  expect(await seen('?status=executable')).toEqual([true, false]);
  expect(await seen('?status=non_executable')).toEqual([false, true]);
  expect((await catalog('?status=executable')).routes.every((route) => route.executable)).toBe(
    true,
  );
});

test.each([
  ['status', 'status=active'],
  ['status', 'status='],
  ['include_health', 'include_health=yes'],
  ['limit', 'limit=10'],
  ['cursor', 'cursor=x'],
])('a bad %s (%s) is 422', async (path, query) => {
  expectInvalid(await get(`/route-catalog?${query}`), path);
});

describe('health', () => {
  const healthOf = async (view: TemplateView) =>
    (await routeOf(view, '?include_health=true'))?.health;

  test('is there only on request', async () => {
    const view = await register(template([noop('a')]));
    expect(Object.keys((await routeOf(view)) ?? {})).not.toContain('health');
    expect(Object.keys((await routeOf(view, '?include_health=false')) ?? {})).not.toContain(
      'health',
    );
    expect(await healthOf(view)).toEqual({
      status: 'healthy',
      executors: [{ executor_key: 'builtin.noop', health_state: 'up' }],
    });
  });

  test('tells what is missing, ambiguous and down', async () => {
    const bad = await register(
      template([of('a', 'unserved_action'), of('b', 'test_twin'), of('c', 'test_previewed')]),
    );
    expect(await healthOf(bad)).toEqual({
      status: 'unavailable',
      executors: [
        { executor_key: 'unserved_action', health_state: 'missing' },
        { executor_key: 'test_twin', health_state: 'ambiguous' },
        { executor_key: 'test.previewed', health_state: 'down' },
      ],
    });
    expect(
      await healthOf(await register(template([noop('a'), of('b', 'unserved_action')]))),
    ).toMatchObject({ status: 'degraded' });
  });

  test('is degraded before its first check, and unavailable once it is switched off', async () => {
    const view = await register(template([of('a', 'test_switched')]));
    const state = (health_state: string) =>
      sql(`UPDATE executors SET health_state = $1 WHERE executor_key = 'test.switched'`, [
        health_state,
      ]);
    const item = (health_state: string) => [{ executor_key: 'test.switched', health_state }];
    await patch('/executors/test.switched', { status: 'active' });
    try {
      await state('unknown');
      expect(await healthOf(view)).toEqual({ status: 'degraded', executors: item('unknown') });
      await state('up');
      expect(await healthOf(view)).toEqual({ status: 'healthy', executors: item('up') });
      await must(200, patch('/executors/test.switched', { status: 'disabled' }));
      expect(await healthOf(view)).toEqual({ status: 'unavailable', executors: item('down') });
    } finally {
      await patch('/executors/test.switched', { status: 'active' });
      await state('down');
    }
  });
});

test('stats are what became of the movements, from approval to end', async () => {
  const view = await register(template([noop('a')]));
  const failing = await register(
    template([noop('a', { config: { amount: '2' } })], { risk_controls: { max_amount: '1' } }),
  );
  await run(view, 'COMPLETED');
  const slow = await run(view, 'COMPLETED');
  await run(failing, 'FAILED');
  expect((await routeOf(failing))?.['stats']).toEqual({
    total_completed: 0,
    total_failed: 1,
    success_rate: 0,
    avg_duration_seconds: null,
    max_duration_seconds: null,
  });
  const seconds = async (movement_id: string): Promise<number> => {
    const [row] = await sql<{ seconds: string }>(
      `SELECT extract(epoch FROM m.ended_at - e.occurred_at) AS seconds FROM movements m
        JOIN timeline_events e USING (movement_id)
       WHERE m.movement_id = $1 AND e.event_type = 'request_approved'`,
      [movement_id],
    );
    return Number(row?.seconds);
  };
  // Two minutes between create and approval say nothing of the route; between approval and end they
  // do.
  await sql(
    `UPDATE movements SET created_at = created_at - interval '2 minutes' WHERE movement_id = $1`,
    [slow.movement_id],
  );
  await sql(
    // As a whole, as the end of a movement is written: what is counted is what changes with it.
    `UPDATE movements SET approved_at = approved_at - interval '100 seconds',
       ended_at = ended_at + interval '1 millisecond' WHERE movement_id = $1`,
    [slow.movement_id],
  );
  const times = await sql<{ movement_id: string }>(
    'SELECT movement_id FROM movements WHERE template_key = $1',
    [view.template_key],
  );
  const durations = await Promise.all(
    times.map(
      async ({ movement_id }) =>
        (await seconds(movement_id)) + (movement_id === slow.movement_id ? 100 : 0),
    ),
  );
  const stats = (await routeOf(view))?.['stats'] as Record<string, number>;
  expect(stats).toMatchObject({ total_completed: 2, total_failed: 0, success_rate: 1 });
  expect(stats['max_duration_seconds']).toBeCloseTo(Math.max(...durations), 2);
  expect(stats['avg_duration_seconds']).toBeCloseTo(
    durations.reduce((sum, each) => sum + each, 0) / 2,
    2,
  );
});

test('an agent sees its own routes and those outside all namespaces, and no others', async () => {
  const names = ['catalog_a', 'catalogXa'] as const;
  const [key] = await Promise.all([
    issueKey(
      '--client-name',
      'catalog',
      '--key-id',
      'catalog-agent',
      '--role',
      'agent',
      '--authority-key',
      names[0],
    ),
  ]);
  const own = await register(
    template([withdrawal('a')], { template_key: `agent/${names[0]}/${uniqueKey()}` }),
  );
  const alike = await register(
    template([withdrawal('a')], { template_key: `agent/${names[1]}/${uniqueKey()}` }),
  );
  const common = await register(template([withdrawal('a')]));
  for (const [path, body] of [
    ['GET /route-catalog', undefined],
    ['POST /routes/recommend', { asset: 'USDC' }],
  ] as const) {
    const [method = '', where = ''] = path.split(' ');
    const answer = await must<
      Partial<Catalog> & { recommendations?: readonly { route: RouteView }[] }
    >(200, sendAs(key, method, where, body));
    const keys = (answer.routes ?? answer.recommendations?.map(({ route }) => route) ?? []).map(
      ({ template_key }) => template_key,
    );
    expect(keys).toEqual(expect.arrayContaining([own.template_key, common.template_key]));
    expect(keys).not.toContain(alike.template_key);
  }
  expect(await routeOf(alike)).toBeDefined();
});
