/**
 * What draws come to, in the database as in the plan; and the fence, which lets no node move more
 * than was approved or had arrived.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { JsonObject } from '../../domain/json.ts';
import type { GraphEdge } from '../../domain/graph/types.ts';
import { add, compare } from '../../domain/money.ts';
import { drawTerms, flowsOf, outflowIn, sumOf } from '../../domain/plan/flow.ts';
import { NODE_STATES, type NodeState } from '../../domain/states/node.ts';
import { applyTransition, tryFence } from '../../store/transition.ts';
import { plans } from '../domain/plan/flow-arbitrary.ts';
import { dearestDraw } from '../support/flow-model.ts';
import { runs } from '../support/runs.ts';
import { BURNER, paying, storeBench, type DraftOptions } from './support.ts';

const bench = storeBench();

const state = fc.constantFrom<NodeState>(
  'BLOCKED',
  'BLOCKED',
  'COMPLETED',
  'COMPLETED',
  'FAILED',
  ...NODE_STATES,
);

test('the sum of what may still be drawn is that of the plan, less the ways that outcomes have closed', async () => {
  const seen = { same: 0, less: 0 };
  await fc.assert(
    fc.asyncProperty(
      plans(6),
      fc.array(state, { minLength: 6, maxLength: 6 }),
      async (plan, states) => {
        const terms = drawTerms(plan);
        const drawing = [...flowsOf(plan)].flatMap(([key, { from, amount }]) =>
          from === null ? [[key, amount ?? '7'] as const] : [],
        );
        const amounts = new Map(drawing);
        const nodes = (stateOf: (index: number) => NodeState) =>
          JSON.stringify(
            Object.fromEntries(
              plan.nodes.map(({ node_key }, index) => [
                node_key,
                { s: stateOf(index), v: amounts.get(node_key) ?? 0 },
              ]),
            ),
          );
        const [row] = await bench.sql<{ at_first: string; now: string }>(
          'SELECT trim_scale(sum_of($1::jsonb, $2::jsonb))::text AS at_first, trim_scale(sum_of($1::jsonb, $3::jsonb))::text AS now',
          JSON.stringify(terms),
          nodes(() => 'BLOCKED'),
          nodes((index) => states[index] ?? 'BLOCKED'),
        );
        expect(row?.at_first).toBe(sumOf(terms, (key) => amounts.get(key) ?? '0'));
        const draws = drawing.map(([node_key, amount]) => ({ node_key, amount }));
        const known = new Map(
          plan.nodes.map(({ node_key }, index) => [node_key, states[index] ?? 'BLOCKED'] as const),
        );
        expect(row?.now).toBe(dearestDraw(draws, plan.nodes, plan.edges, known));
        seen[row?.now === row?.at_first ? 'same' : 'less'] += 1;
      },
    ),
    { numRuns: runs(120, 300), endOnFailure: true },
  );
  expect(Math.min(seen.same, seen.less)).toBeGreaterThan(runs(0, 2));
}, 120_000);

test('an outflow says the same of an asset in the database', async () => {
  const entry = fc.record({
    asset: fc.constantFrom('A', 'B', 'C'),
    amount: fc.constantFrom('1', '2.5', '99999999999999999999.999999999999999999', null),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(entry, { selector: ({ asset }) => asset }),
      fc.constantFrom('A', 'B', 'C'),
      async (outflow, asset) => {
        const [row] = await bench.sql<{ amount: string | null }>(
          'SELECT trim_scale(outflow_in($1::jsonb, $2))::text AS amount',
          JSON.stringify(outflow),
          asset,
        );
        expect(row?.amount ?? null).toBe(outflowIn(outflow, asset));
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
});

const edge = (
  from: string,
  to: string,
  edge_type: GraphEdge['edge_type'] = 'on_success',
): GraphEdge => ({
  from,
  to,
  edge_type,
  priority: 0,
  join_key: null,
  condition_expr: null,
});

/** A movement under way with nodes in these states; the others are READY. */
async function running(
  shape: NonNullable<DraftOptions['shape']>,
  states: Readonly<Record<string, { state: NodeState; amount?: string; output?: JsonObject }>> = {},
) {
  const { movement_id } = await bench.movement({ shape, amount: '10' });
  await bench.approve(movement_id);
  await bench.sql(
    "UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved' WHERE movement_id = $1::uuid",
    movement_id,
  );
  await bench.sql(
    "UPDATE movement_nodes SET state = 'READY' WHERE movement_id = $1::uuid",
    movement_id,
  );
  for (const [key, { state: at, amount = '10', output = null }] of Object.entries(states)) {
    await bench.sql(
      'UPDATE movement_nodes SET state = $3, amount = $4::numeric, output = $5::jsonb WHERE movement_id = $1::uuid AND node_key = $2',
      movement_id,
      key,
      at,
      amount,
      output === null ? null : JSON.stringify(output),
    );
  }
  return movement_id;
}

/** Declares a send of so much as the long fence does: null where it passed, else why not. */
async function fence(movement_id: string, node_key: string, amount: string): Promise<unknown> {
  const outcome = await applyTransition(bench.db, {
    movement_id,
    require: { executors: [], signers: [], flow: { node_key, amount } },
    nodes: [{ node_key, from: 'READY', moves: ['SUBMITTING'], set: { amount, submit_epoch: 1 } }],
    timeline: [],
  });
  return outcome.ok ? null : outcome.reason === 'binding' ? outcome.problems : outcome.reason;
}

/** As the short fence does, which finds the amount in the row. */
async function shortFence(movement_id: string, node_key: string, amount: string): Promise<boolean> {
  await bench.sql(
    `UPDATE movement_nodes SET preflight_passed = true, started_at = svc_now(),
      amount = $3::numeric, prepared_action = '{}'::jsonb
     WHERE movement_id = $1::uuid AND node_key = $2 AND state = 'READY'`,
    movement_id,
    node_key,
    amount,
  );
  const args = {
    movement_id,
    node_key,
    attempt: 1,
    executor_key: 'acme.payouts',
    event_id: randomUUID(),
    window_seconds: 5,
    pays_nobody: ['acme_payout'],
  };
  return (await tryFence(bench.db, args)).passed;
}

const exceeded = (limit: string, used: string): unknown => [
  { binding: 'flow', key: 'USDC', reason: 'APPROVED_OUTFLOW_EXCEEDED', limit, used },
];
const sent = (node_key: string, key: string): ReturnType<typeof paying> =>
  paying(node_key, { amount_ref: `nodes.${key}.output.submitted_amount` });
const passing = {
  nodes: [paying('a', {}), sent('b', 'a'), sent('c', 'a'), sent('d', 'a')],
  edges: [edge('a', 'b'), edge('a', 'c'), edge('a', 'd')],
};
const completed = (amount: string, submitted_amount?: string) => ({
  state: 'COMPLETED' as const,
  amount,
  ...(submitted_amount === undefined ? {} : { output: { submitted_amount } }),
});

describe('the fence', () => {
  test('lets what was approved be drawn, to the last digit, and nothing above it', async () => {
    const one = { nodes: [paying('a', {})], edges: [] };
    expect(await fence(await running(one), 'a', '10')).toBeNull();
    expect(await fence(await running(one), 'a', '10.000000000000000001')).toEqual(
      exceeded('10', '0'),
    );
    expect(await shortFence(await running(one), 'a', '10')).toBe(true);
    expect(await shortFence(await running(one), 'a', '10.000000000000000001')).toBe(false);
  });

  test.each<[string, { state: NodeState; amount: string; output?: JsonObject }, boolean]>([
    ['has sent all', { state: 'COMPLETED', amount: '10' }, false],
    [
      'has sent a part',
      { state: 'COMPLETED', amount: '10', output: { submitted_amount: '9' } },
      true,
    ],
    ['may have sent', { state: 'UNKNOWN', amount: '10' }, false],
    ['is being sent', { state: 'SUBMITTING', amount: '10' }, false],
    ['is observed', { state: 'OBSERVING', amount: '10' }, false],
    ['is proven unsent', { state: 'FAILED', amount: '10' }, true],
  ])('of what the dearest way has another node that %s', async (_what, other, passes) => {
    // Approved is the dearer of the two: 10, of which the second wants 1.
    const either = {
      nodes: [paying('a', {}), paying('f', { amount: '1' })],
      edges: [edge('a', 'f', 'on_failure')],
    };
    expect(await fence(await running(either, { a: other }), 'f', '1')).toEqual(
      passes ? null : exceeded('10', '10'),
    );
    expect(await shortFence(await running(either, { a: other }), 'f', '1')).toBe(passes);
  });

  test.each<[string, JsonObject]>([
    ['a number', { submitted_amount: 1 }],
    ['no decimal', { submitted_amount: '01' }],
    ['nothing', {}],
  ])(
    'counts the whole amount of a node whose output tells %s of what was sent',
    async (_what, output) => {
      const either = {
        nodes: [paying('a', {}), paying('f', { amount: '1' })],
        edges: [edge('a', 'f', 'on_failure')],
      };
      expect(
        await fence(
          await running(either, { a: { state: 'COMPLETED', amount: '10', output } }),
          'f',
          '1',
        ),
      ).toEqual(exceeded('10', '10'));
    },
  );

  test('counts a send that is looked up again, although its node is READY', async () => {
    const either = {
      nodes: [paying('a', {}), paying('f', { amount: '1' })],
      edges: [edge('a', 'f', 'on_failure')],
    };
    const id = await running(either, { a: { state: 'READY' } });
    await bench.sql(
      "UPDATE movement_nodes SET recover_first = true WHERE movement_id = $1::uuid AND node_key = 'a'",
      id,
    );
    expect(await fence(id, 'f', '1')).toEqual(exceeded('10', '10'));
  });

  test('lets nodes together pass on what the node before them sent, not what it was to send', async () => {
    const id = await running(passing, { a: completed('10', '9.5') });
    expect(await fence(id, 'b', '9.6')).toEqual(exceeded('9.5', '0'));
    expect(await fence(id, 'b', '6')).toBeNull();
    expect(await shortFence(id, 'c', '3.500000000000000001')).toBe(false);
    expect(await shortFence(id, 'c', '3.5')).toBe(true);
    expect(await fence(id, 'd', '0.000000000000000001')).toEqual(exceeded('9.5', '9.5'));
  });

  test('lets no node pass on what was not proven to be sent', async () => {
    for (const at of ['READY', 'SUBMITTING', 'OBSERVING', 'UNKNOWN', 'FAILED'] as const) {
      expect(await fence(await running(passing, { a: { state: at } }), 'b', '1')).toEqual(
        exceeded('0', '0'),
      );
    }
  });

  test('asks nothing of an asset that a person approved without a bound', async () => {
    const open = { nodes: [paying('a', { amount_ref: 'nodes.x.output.y' })], edges: [] };
    expect(await fence(await running(open), 'a', '123456')).toBeNull();
  });

  test('counts each asset by itself', async () => {
    const two = {
      nodes: [paying('a', {}), paying('b', { asset: 'USDT', amount: '4' })],
      edges: [],
    };
    const id = await running(two, { a: { state: 'UNKNOWN', amount: '10' } });
    expect(await fence(id, 'b', '4')).toBeNull();
    expect(await fence(await running(two), 'b', '5')).toMatchObject([{ key: 'USDT', limit: '4' }]);
  });

  test('of several at once lets pass what fits together, behind either fence, and refuses the rest', async () => {
    const keys = ['b', 'c', 'd', 'e', 'f', 'g'];
    const many = {
      nodes: [paying('a', {}), ...keys.map((key) => sent(key, 'a'))],
      edges: keys.map((key) => edge('a', key)),
    };
    const amount = fc.constantFrom('1', '2.5', '4.000000000000000001', '6', '0.1');
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(amount, fc.boolean()), { minLength: 6, maxLength: 6 }),
        async (wanted) => {
          const id = await running(many, { a: completed('10', '9.5') });
          const passed = await Promise.all(
            wanted.map(async ([of, short], index) => {
              const key = keys[index] ?? '';
              const ok = short
                ? await shortFence(id, key, of)
                : (await fence(id, key, of)) === null;
              seen.add(`${short ? 'short' : 'long'}: ${String(ok)}`);
              return ok;
            }),
          );
          const sum = (which: boolean): readonly string[] =>
            wanted.flatMap(([of], index) => (passed[index] === which ? [of] : []));
          const moved = sum(true).reduce(add, '0');
          expect(compare(moved, '9.5')).toBeLessThanOrEqual(0);
          // None was refused that would have fitted beside all others.
          for (const of of sum(false)) expect(compare(add(moved, of), '9.5')).toBe(1);
        },
      ),
      { numRuns: runs(10, 25), endOnFailure: true },
    );
    expect([...seen].sort()).toEqual(['long: false', 'long: true', 'short: false', 'short: true']);
  });
});

describe('an allowance', () => {
  const token = { token_address: '0x00000000000000000000000000000000000000bb' };
  const allows = {
    ...paying('allow', { chain_id: 1, spender: BURNER, ...token }),
    action_type: 'evm_erc20_approve',
  };
  const burns = {
    ...paying('burn', { source_chain_id: 1, ...token }),
    action_type: 'cctp_burn',
  };
  const both = { nodes: [allows, burns], edges: [edge('allow', 'burn')] };

  test('that a burn pulls is drawn by the burn, before and behind its own fence', async () => {
    const movement = await running(both);
    expect(await fence(movement, 'allow', '10')).toBeNull();
    expect(await fence(movement, 'burn', '10')).toBeNull();
    const later = await running(both, { allow: { state: 'COMPLETED' } });
    expect(await fence(later, 'burn', '10')).toBeNull();
    expect(await fence(await running(both), 'burn', '10.000000000000000001')).toEqual(
      exceeded('10', '0'),
    );
  });

  test('of 0 takes one back, however much was sent of what was approved', async () => {
    const reset = { ...allows, node_key: 'reset', config: { ...allows.config, amount: '0' } };
    const movement = await running({ ...both, nodes: [allows, burns, reset] });
    await bench.sql(
      'UPDATE movements SET outflow = \'[{"asset": "USDC", "amount": "0"}]\' WHERE movement_id = $1::uuid',
      movement,
    );
    await bench.sql(
      "UPDATE movement_nodes SET state = 'COMPLETED', amount = 10 WHERE movement_id = $1::uuid AND node_key = 'burn'",
      movement,
    );
    expect(await fence(movement, 'reset', '0')).toBeNull();
  });

  test('that no node of the plan pulls is drawn by itself', async () => {
    const other = { ...allows, config: { ...allows.config, spender: token.token_address } };
    const apart = { ...both, nodes: [other, burns] };
    const movement = await running(apart);
    const [row] = await bench.sql<{ amount: string }>(
      "SELECT outflow -> 0 ->> 'amount' AS amount FROM movements WHERE movement_id = $1::uuid",
      movement,
    );
    expect(row?.amount).toBe('20');
    expect(await fence(movement, 'allow', '10')).toBeNull();
    expect(await fence(movement, 'burn', '10')).toBeNull();
    expect(
      await fence(await running(apart, { allow: { state: 'UNKNOWN' } }), 'burn', '11'),
    ).toEqual(exceeded('20', '10'));
  });
});
