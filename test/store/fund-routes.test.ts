/**
 * What routes are read from: which movements count, at what cost, whatever the number of templates
 * and movements.
 */
import { createApi } from '../../api/app.ts';
import { routes } from '../../venues/routes.ts';
import { countStatements } from '../../bench/costs/statements.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { foldCounts } from '../../store/counts.ts';
import { listFundRoutes, readFundRouteFacts } from '../../store/fund-routes.ts';
import { dependencies, post, send, serve } from '../api/support.ts';
import { storeBench } from './support.ts';

let templateId: string;
const bench = storeBench();
beforeAll(async () => {
  await bench.movement();
  const [movement] = await bench.sql<{ template_id: string }>(
    'SELECT template_id::text FROM movements',
  );
  templateId = movement?.template_id ?? '';
});

/**
 * Copies of a movement that never ran, as if they had ended in `state` at `ended` (SQL), so long
 * after their approval.
 */
async function ended(state: string, at: string, seconds = 10, count = 1): Promise<void> {
  await bench.sql(
    `INSERT INTO movements (movement_id, template_id, template_key, template_version,
       request_state, approval_status, reservation_status, asset, amount, intent, current_frontier,
       client_scope, expires_at, created_at, updated_at, ended_at, approved_at)
     SELECT gen_random_uuid(), m.template_id, m.template_key, m.template_version, '${state}',
       m.approval_status, m.reservation_status, m.asset, m.amount, m.intent, m.current_frontier, i,
       m.expires_at, m.created_at, m.updated_at, t.at,
       t.at - interval '${String(seconds)} seconds'
     FROM movements m, (SELECT ${at} AS at OFFSET 0) t, generate_series(1, ${String(count)}) AS i
     WHERE m.request_state = 'PENDING_APPROVAL'`,
  );
}
const remove = () => bench.sql(`DELETE FROM movements WHERE request_state <> 'PENDING_APPROVAL'`);
const PREVIOUS = `(date_trunc('month', svc_now() AT TIME ZONE 'UTC') - interval '1 month') AT TIME ZONE 'UTC'`;

async function withDatabase<T>(
  sessionSettings: Record<string, string>,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db = connectDatabase({ url: bench.url, sessionSettings });
  try {
    return await work(db);
  } finally {
    await db.$disconnect();
  }
}

describe('stats', () => {
  afterEach(remove);

  test('are none where nothing ended', async () => {
    await ended('CANCELLED', 'svc_now()');
    expect((await readFundRouteFacts(bench.db)).statsOf(templateId)).toBeNull();
  });

  test('count what completed and failed; only what completed has a duration', async () => {
    await ended('COMPLETED', 'svc_now()', 1.5);
    await ended('COMPLETED', 'svc_now()', 4.5);
    await ended('FAILED', 'svc_now()', 1_000);
    for (const state of ['CANCELLED', 'REJECTED', 'EXPIRED']) await ended(state, 'svc_now()');
    expect((await readFundRouteFacts(bench.db)).statsOf(templateId)).toEqual({
      total_completed: 2,
      total_failed: 1,
      success_rate: 2 / 3,
      avg_duration_seconds: 3,
      max_duration_seconds: 4.5,
    });
  });

  test('have no duration where all failed', async () => {
    await ended('FAILED', 'svc_now()');
    const stats = (await readFundRouteFacts(bench.db)).statsOf(templateId);
    expect(stats).toMatchObject({
      total_completed: 0,
      total_failed: 1,
      success_rate: 0,
      avg_duration_seconds: null,
      max_duration_seconds: null,
    });
  });

  test.each(['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    'begin with the previous month of UTC, with the session in %s',
    async (timezone) => {
      await ended('COMPLETED', PREVIOUS);
      await ended('FAILED', `${PREVIOUS} - interval '1 millisecond'`);
      const stats = await withDatabase({ timezone }, async (db) =>
        (await readFundRouteFacts(db)).statsOf(templateId),
      );
      expect(stats).toMatchObject({ total_completed: 1, total_failed: 0 });
    },
  );

  test('forget a month when the next but one begins', async () => {
    await ended('COMPLETED', `${PREVIOUS} + interval '1 month'`);
    const [span] = await bench.sql<{ ms: number }>(
      `SELECT (extract(epoch
        FROM ${PREVIOUS} + interval '3 months' - svc_now()) * 1000)::float8 AS ms`,
    );
    const at = async (ms: number) =>
      withDatabase({ 'svc.clock_offset_ms': String(Math.round(ms)) }, async (db) =>
        (await readFundRouteFacts(db)).statsOf(templateId),
      );
    expect(await at((span?.ms ?? 0) - 60_000)).toMatchObject({ total_completed: 1 });
    expect(await at((span?.ms ?? 0) + 60_000)).toBeNull();
  });

  test('look at no movement, and at two rows of a version once they are added up', async () => {
    await ended('COMPLETED', `svc_now() - interval '300 days'`, 10, 2_000);
    await ended('COMPLETED', 'svc_now()', 10, 20);
    while ((await foldCounts(bench.db, 500)) > 0);
    const [answer] = await bench.sql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      'EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM route_stats',
    );
    const scans = nodesOf(answer!['QUERY PLAN'][0].Plan).filter(
      (each) => each['Relation Name'] !== undefined,
    );
    const read = scans.map((scan) => [scan['Relation Name'], scan['Actual Rows']]);
    expect(Object.fromEntries(read)).toEqual({
      route_months: expect.any(Number),
      route_changes: 0,
    });
    expect((await readFundRouteFacts(bench.db)).statsOf(templateId)).toMatchObject({
      total_completed: 20,
    });
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly Plans?: readonly PlanNode[];
}
const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** So many templates of three nodes in a chain. */
async function templates(prefix: string, count: number): Promise<void> {
  const series = `generate_series(1, ${String(count)}) AS i`;
  await bench.sql(
    `INSERT INTO plan_templates (template_key, created_at, updated_at)
      SELECT '${prefix}-' || i, now(), now() FROM ${series}`,
  );
  await bench.sql(
    `INSERT INTO plan_template_versions (template_id, template_key, version, name, graph_shape,
      approval_policy, risk_controls, completion_assurance, created_at)
     SELECT gen_random_uuid(), '${prefix}-' || i, 1, 'n', 'linear', '{}',
       '{"max_amount": "50", "own": 1}', 'provider_completed', now() FROM ${series}`,
  );
  await bench.sql(
    `INSERT INTO plan_nodes (id, template_id, position, node_key, node_kind, action_type,
      has_side_effect, config)
     SELECT gen_random_uuid(), template_id, p, 'n' || p, 'action',
       CASE WHEN p = 3 THEN 'cex_internal_transfer' ELSE 'noop' END, true,
       jsonb_build_object('asset', 'USDC', 'venue', 'v' || p)
     FROM plan_template_versions, generate_series(1, 3) AS p WHERE template_key LIKE '${prefix}-%'`,
  );
  await bench.sql(
    `INSERT INTO plan_edges (id, template_id, position, from_key, to_key, edge_type)
     SELECT gen_random_uuid(), template_id, p, 'n' || p, 'n' || (p + 1), 'on_success'
     FROM plan_template_versions, generate_series(1, 2) AS p WHERE template_key LIKE '${prefix}-%'`,
  );
}

/**
 * Statements of a first and a second recommendation, and of a catalog, by an API that has read
 * nothing yet.
 */
async function statements(): Promise<{
  readonly routes: number;
  readonly cold: number;
  readonly warm: number;
  readonly catalog: number;
}> {
  const { db, sent } = countStatements(bench.url);
  const served = await serve(createApi({ ...dependencies(), db }, routes));
  const spent = async (work: () => Promise<unknown>): Promise<number> => {
    const before = sent();
    await work();
    return sent() - before;
  };
  try {
    let found = 0;
    const recommend = async () => {
      const { status, body } = await post(`${served.url}/v3/routes/recommend`, {
        asset: 'USDC',
        amount: '5',
      });
      expect(status).toBe(200);
      found = (body['recommendations'] as unknown[]).length;
    };
    const cold = await spent(recommend);
    const warm = await spent(recommend);
    const catalog = await spent(async () =>
      expect((await send(`${served.url}/v3/route-catalog?include_health=true`)).status).toBe(200),
    );
    return { routes: found, cold, warm, catalog };
  } finally {
    await served.close();
    await db.$disconnect();
  }
}

test('a recommendation takes as many statements for a thousand templates as for ten', async () => {
  // The one that is there from the start moves nothing.
  await templates('few', 10);
  const few = await statements();
  await templates('many', 990);
  const many = await statements();
  expect([few.routes, many.routes]).toEqual([10, 1_000]);
  expect(few).toEqual({ routes: 10, cold: 3, warm: 2, catalog: 2 });
  expect(many).toEqual({ ...few, routes: 1_000 });
});

test('a version that is registered later is found, and the kept ones are what they were', async () => {
  const before = await listFundRoutes(bench.db, undefined);
  await templates('later', 1);
  const after = await listFundRoutes(bench.db, undefined);
  expect(after.filter(({ template_key }) => template_key !== 'later-1')).toEqual(before);
  expect(after.find(({ template_key }) => template_key === 'later-1')).toEqual({
    template_id: expect.any(String),
    template_key: 'later-1',
    version: 1,
    name: 'n',
    graph_shape: 'linear',
    node_count: 3,
    executable: true,
    reserved: false,
    moves_funds: true,
    metadata: {
      transport_family: 'mixed',
      source_venue: 'v1',
      destination_venue: null,
      asset: 'USDC',
    },
    fee_policy: {},
    risk_controls: { max_amount: '50' },
    selectors: [
      { action_type: 'noop' },
      { action_type: 'noop' },
      { action_type: 'cex_internal_transfer' },
    ],
    // A noop is always there.
    working_selectors: [{ action_type: 'cex_internal_transfer' }],
    signing_selectors: [],
    requiring_selectors: [],
    withdrawals: [],
    bridge_legs: [],
  });
});
