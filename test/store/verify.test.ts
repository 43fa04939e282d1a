/**
 * What somebody writes past the service into a movement's hold, its noted sends or its budget is
 * found by `fundadmin reservations verify`.
 */
import type { GraphEdge } from '../../domain/graph/types.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import type { PolicyRecord } from '../../store/auto-approve.ts';
import { fundadmin } from '../../tools/command-line.ts';
import { verifyReservations, type VerifyResult } from '../../tools/reservations/verify.ts';
import { CLIENT, worldOf, type World } from './holds-world.ts';
import { storePolicy } from './policies.ts';
import { paying, storeBench } from './support.ts';

let policy: PolicyRecord;
const bench = storeBench();
beforeAll(async () => {
  policy = await storePolicy(bench, CLIENT, { window_hours: 24, max_amount_per_window: '1000000' });
});

/** 100 in each pool of the world's venues. */
async function fund(world: World): Promise<void> {
  const rows = JSON.stringify(
    ['SPOT', 'FUNDING'].map((account_type) => ({
      account_type,
      asset: 'USDC',
      withdrawable: '100',
    })),
  );
  for (const venue of world.venues)
    await bench.sql(
      'SELECT 1 FROM (SELECT store_balances($1, svc_now(), $2::jsonb)) AS stored',
      venue,
      rows,
    );
}

/**
 * Sent 4 of the first pool; a gate waits before 1 more, and a cancel would lead to 0.1. A policy
 * approved it.
 */
async function waiting(): Promise<{ readonly id: string; readonly world: World }> {
  const world = worldOf(bench);
  await fund(world);
  // Where a row may be moved to.
  await bench.sql(
    "INSERT INTO reservation_pools (venue_key, account_type, asset) SELECT $1, account_type, asset FROM (VALUES ('FUNDING', 'USDC'), ('SPOT', 'USDT')) AS t (account_type, asset)",
    world.venues[0],
  );
  const outcome = await world.create('gated', '4', policy);
  if (outcome?.created !== true) throw new Error('nothing was created');
  const id = outcome.movement_id;
  await world.settle(id);
  await world.happen('COMPLETED', id);
  await world.settle(id);
  const before = await rowsOf(id);
  expect(before).toMatchObject({
    holds: [
      { amount: '1.1', node_key: null, status: 'held' },
      { amount: '4', node_key: 'x', status: 'consumed' },
    ],
    budget: [{ amount: '5.1', status: 'reserved' }],
  });
  return { id, world };
}

async function rowsOf(id: string) {
  return {
    holds: await bench.sql<object>(
      'SELECT trim_scale(amount)::text AS amount, node_key, status FROM reservations WHERE movement_id = $1::uuid ORDER BY amount',
      id,
    ),
    budget: await bench.sql<object>(
      'SELECT trim_scale(amount)::text AS amount, status FROM budget_reservations WHERE movement_id = $1::uuid ORDER BY amount',
      id,
    ),
  };
}

/** Makes the pools fit what is written. */
const recount = (): Promise<unknown> =>
  bench.sql(`UPDATE reservation_pools p
    SET held = coalesce((SELECT sum(amount) FROM reservations r WHERE r.status = 'held'
    AND (r.venue_key, r.account_type, r.asset) = (p.venue_key, p.account_type, p.asset)), 0)`);

const HELD = "reservations WHERE movement_id = $1::uuid AND status = 'held'";
const NOTED = "reservations WHERE movement_id = $1::uuid AND status = 'consumed'";
const change = (what: string, set: string): string =>
  `UPDATE ${what.replace(' WHERE', ` SET ${set} WHERE`)}`;
const copy = (what: string, columns: string, values: string): string =>
  `INSERT INTO ${what.split(' ')[0] ?? ''} (${columns}) SELECT ${values} FROM ${what}`;
const RESERVATION =
  'reservation_id, movement_id, node_key, venue_key, account_type, asset, amount, status, created_at, ended_at';
const BUDGET = 'budget_reservations WHERE movement_id = $1::uuid';

test.each<[string, string, readonly string[]]>([
  [
    'a hold is made smaller',
    change(HELD, 'amount = amount - 0.000000000000000001'),
    ['hold_differs'],
  ],
  ['a hold is made larger', change(HELD, 'amount = amount + 1'), ['hold_differs']],
  [
    'a hold is moved to another kind of account',
    change(HELD, "account_type = 'FUNDING'"),
    ['hold_missing', 'hold_unexpected'],
  ],
  [
    'a hold is moved to another asset',
    change(HELD, "asset = 'USDT'"),
    ['hold_missing', 'hold_unexpected'],
  ],
  ['a hold is ended', change(HELD, "status = 'released', ended_at = now()"), ['hold_missing']],
  ['a hold is taken away', `DELETE FROM ${HELD}`, ['hold_missing']],
  [
    'a hold is said to have been sent',
    change(HELD, "status = 'consumed', ended_at = now(), node_key = 'y'"),
    ['hold_missing', 'sent_unexpected'],
  ],
  [
    'what was sent is made smaller',
    change(NOTED, 'amount = amount - 0.000000000000000001'),
    ['sent_differs'],
  ],
  ['what was sent is made larger', change(NOTED, 'amount = amount + 1'), ['sent_differs']],
  [
    "what was sent is another node's",
    change(NOTED, "node_key = 'y'"),
    ['sent_missing', 'sent_unexpected'],
  ],
  [
    'what was sent left another pool',
    change(NOTED, "account_type = 'FUNDING'"),
    ['sent_missing', 'sent_unexpected'],
  ],
  ['what was sent is forgotten', `DELETE FROM ${NOTED}`, ['sent_missing']],
  ['what was sent is released', change(NOTED, "status = 'released'"), ['sent_missing']],
  [
    'what was sent is noted twice',
    copy(NOTED, RESERVATION, RESERVATION.replace('reservation_id', 'gen_random_uuid()')),
    ['sent_differs'],
  ],
  [
    'less of the budget is used up',
    change(BUDGET, 'amount = amount - 0.000000000000000001'),
    ['budget_reserved_differs'],
  ],
  [
    'more of the budget is used up',
    change(BUDGET, 'amount = amount + 1'),
    ['budget_reserved_differs'],
  ],
  [
    'the budget is returned',
    change(BUDGET, "status = 'released', ended_at = now()"),
    ['budget_reserved_differs'],
  ],
  ['the budget is taken away', `DELETE FROM ${BUDGET}`, ['budget_reserved_differs']],
  [
    'the budget is consumed before the end',
    change(BUDGET, "status = 'consumed', ended_at = now()"),
    ['budget_consumed_differs', 'budget_reserved_differs'],
  ],
  [
    'the budget is used up twice',
    copy(
      BUDGET,
      'reservation_id, movement_id, policy_id, amount, status, reserved_at',
      'gen_random_uuid(), movement_id, policy_id, amount, status, reserved_at',
    ),
    ['budget_reserved_differs'],
  ],
  [
    'the movement is said to have failed',
    "UPDATE movements SET request_state = 'FAILED' WHERE movement_id = $1::uuid",
    ['budget_consumed_differs', 'budget_reserved_differs', 'hold_of_ended_movement'],
  ],
  [
    'the node that sent is said to have failed',
    "UPDATE movement_nodes SET state = 'FAILED' WHERE movement_id = $1::uuid AND node_key = 'x'",
    ['sent_unexpected'],
  ],
  [
    'the node that sent is said to have sent less',
    "UPDATE movement_nodes SET amount = 3, output = '{}' WHERE movement_id = $1::uuid AND node_key = 'x'",
    ['sent_differs'],
  ],
])('when %s, also when the pools are made to fit', async (_what, tampering, faults) => {
  const { id } = await waiting();
  const found = (result: VerifyResult): readonly string[] =>
    result.first_faults.filter(({ movement_id }) => movement_id === id).map(({ fault }) => fault);
  expect(found(await verifyReservations(bench.db))).toEqual([]);
  await bench.sql(tampering, id);
  await recount();
  const result = await verifyReservations(bench.db);
  expect(result.ok).toBe(false);
  expect([...found(result)].sort()).toEqual(faults);
  await bench.sql('DELETE FROM reservations WHERE movement_id = $1::uuid', id);
  await bench.sql('DELETE FROM budget_reservations WHERE movement_id = $1::uuid', id);
  await bench.sql(
    'UPDATE movements SET auto_approve_result = NULL, pooled = false WHERE movement_id = $1::uuid',
    id,
  );
  await recount();
});

test('a budget of a movement that no policy approved is found', async () => {
  const world = worldOf(bench);
  const outcome = await world.create('of no venue', '4', null);
  await world.act('approve', outcome?.movement_id ?? '');
  await bench.sql(
    `INSERT INTO budget_reservations (reservation_id, movement_id, policy_id, amount, status,
      reserved_at)
     VALUES (gen_random_uuid(), $1::uuid, $2::uuid, 4, 'reserved', now())`,
    outcome?.movement_id,
    policy.policy_id,
  );
  expect(await verifyReservations(bench.db)).toMatchObject({
    ok: false,
    first_faults: [
      {
        movement_id: outcome?.movement_id,
        fault: 'budget_reserved_differs',
        held: '4',
        expected: '0',
      },
    ],
  });
  await bench.sql(
    'DELETE FROM budget_reservations WHERE movement_id = $1::uuid',
    outcome?.movement_id,
  );
});

test('the tool names a pool and a movement, and ends with 1; once it is mended it ends with 0', async () => {
  const { id, world } = await waiting();
  const run = async () => {
    let out = '';
    const io = {
      env: { SVC_DATABASE_URL: bench.url },
      out: (text: string) => (out += text),
      err: () => undefined,
    };
    const status = await fundadmin(['reservations', 'verify'], io);
    return { status, found: JSON.parse(out) as VerifyResult };
  };
  expect(await run()).toMatchObject({ status: 0, found: { ok: true } });
  await bench.sql(change(HELD, 'amount = amount + 0.000000000000000001'), id);
  expect(await run()).toMatchObject({
    status: 1,
    found: {
      ok: false,
      pools: [{ venue_key: world.venues[0], held: '1.1', open: '1.100000000000000001' }],
      first_faults: [
        { movement_id: id, fault: 'hold_differs', held: '1.100000000000000001', expected: '1.1' },
      ],
    },
  });
  await bench.sql(change(HELD, 'amount = amount - 0.000000000000000001'), id);
  expect(await run()).toMatchObject({ status: 0 });
});

test('what pays beside a bridge is held, and is found in order', async () => {
  const world = worldOf(bench);
  const action = (node_key: string, action_type: string, config: JsonObject): TemplateNode => ({
    node_key,
    node_kind: 'action',
    action_type,
    has_side_effect: true,
    config,
  });
  const edge = (from: string, to: string): GraphEdge => ({
    from,
    to,
    edge_type: 'on_success',
    priority: 0,
    condition_expr: null,
    join_key: null,
  });
  const burnt = 'nodes.burn.output.submitted_amount';
  const { movement_id } = await bench.movement({
    shape: {
      nodes: [
        action('burn', 'cctp_burn', { asset: 'USDC' }),
        action('mint', 'cctp_mint', { burn_from: 'burn' }),
        // Nothing says that the burn was brought by then: it draws from its own account.
        paying('pay', { venue: world.venues[0], asset: 'USDC', amount_ref: burnt }),
      ],
      edges: [edge('burn', 'mint'), edge('burn', 'pay')],
    },
  });
  await bench.sql(
    `UPDATE movement_nodes SET amount = 3 WHERE movement_id = $1::uuid AND node_key = 'pay'`,
    movement_id,
  );
  await fund(world);
  expect(await world.act('approve', movement_id)).toMatchObject({ ok: true });
  const { holds } = await rowsOf(movement_id);
  expect(holds).toEqual([{ amount: '3', node_key: null, status: 'held' }]);
  const { first_faults } = await verifyReservations(bench.db);
  expect(first_faults.filter((fault) => fault.movement_id === movement_id)).toEqual([]);
});
