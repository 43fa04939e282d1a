/** A plan is stored once, and read back as the very one that was hashed and approved. */
import fc from 'fast-check';
import { canonicalPlan } from '../../domain/plan/compile.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readKeyUse } from '../../store/movement-idempotency.ts';
import { createMovement, readSnapshot } from '../../store/movements.ts';
import { readMovement } from '../../store/movement-detail.ts';
import { readPlan } from '../../store/movement-reads.ts';
import { readPhase, readPlanNodes } from '../../store/phases.ts';
import { paying, storeBench } from './support.ts';

const bench = storeBench();

/**
 * Few keys and values, so that nodes and requests often say the same key, and sometimes the same
 * value.
 */
const key = fc.constantFrom('amount', 'note', 'memo', 'own_config', 'left_out', 'config', '');
const value = fc.constantFrom<JsonObject[string]>(
  '1',
  '1.0',
  1,
  1.5,
  '',
  null,
  [],
  [1, '2'],
  {},
  { note: { memo: '1' } },
  true,
);
const config = fc.dictionary(key, value);
const node = fc.record({ config, passesOn: fc.boolean() });
const request = fc.oneof(
  fc.record({ node_config: fc.oneof(config, value), memo: value }),
  fc.constant({}),
  fc.record({ node_config: fc.constant({ amount: '2', note: 'x' }) }),
);

test('whatever templates and requests say of the same keys', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(node, { minLength: 1, maxLength: 4 }),
      request,
      async (nodes, input_params) => {
        const draft = bench.draft({
          shape: {
            nodes: nodes.map(({ config: own, passesOn }, index) =>
              paying(`n${index}`, passesOn ? { ...own, amount_ref: 'intent' } : own),
            ),
            edges: [],
          },
          input_params,
        });
        const expected = JSON.parse(canonicalPlan(draft.plan)) as typeof draft.plan;
        const made = await createMovement(bench.db, { ...draft, auto_approve_result: null });
        if (!made.created) throw new Error('not made');
        const id = made.movement_id;

        const plan = await readPlan(bench.db, id);
        expect(plan === null ? null : canonicalPlan(plan)).toBe(canonicalPlan(draft.plan));
        expect((await readSnapshot(bench.db, id)).plan).toEqual(expected);
        const configs = (await readPlanNodes(bench.db, id)).map(({ node_key, config: own }) => [
          node_key,
          own,
        ]);
        expect(Object.fromEntries(configs)).toEqual(
          Object.fromEntries(expected.nodes.map((each) => [each.node_key, each.config])),
        );
        const shown = (await readMovement(bench.db, id))?.nodes.map((each) => each.config);
        expect(shown).toEqual(expected.nodes.map((each) => each.config));
        for (const each of expected.nodes) {
          const row = await readPhase(bench.db, id, each.node_key);
          expect(row?.node).toEqual(each);
        }
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
});

test('what a request adds to every node is stored with the movement alone', async () => {
  const shared = 'x'.repeat(50_000);
  const nodes = Array.from({ length: 20 }, (_, index) => paying(`n${index}`, { venue: 'v' }));
  const draft = bench.draft({
    shape: { nodes, edges: [] },
    input_params: { node_config: { note: shared } },
  });
  expect(canonicalPlan(draft.plan).length).toBeGreaterThan(20 * shared.length);
  const made = await createMovement(bench.db, { ...draft, auto_approve_result: null });
  if (!made.created) throw new Error('not made');
  const [stored] = await bench.sql<{ length: number }>(
    `SELECT (length(m::text) + length(p::text) + (SELECT sum(length(n::text))
       FROM movement_nodes n WHERE n.movement_id = m.movement_id))::integer AS length
     FROM movements m JOIN movement_plans p USING (movement_id) WHERE m.movement_id = $1::uuid`,
    made.movement_id,
  );
  expect(stored?.length).toBeLessThan(1.5 * shared.length);
});

test('what a create was sent is stored once, and a repeat is compared with all of it', async () => {
  const [note, label] = ['x'.repeat(50_000), 'y'.repeat(50_000)];
  const [input_params, labels] = [{ note }, { label }];
  const request = { template_key: 'a', input_params, labels };
  const key = { client_scope: 'once', idempotency_key: 'once' };
  const draft = { ...bench.draft({ input_params }), ...key, labels, request };
  const made = await createMovement(bench.db, { ...draft, auto_approve_result: null });
  const [stored] = await bench.sql<{ length: number }>(
    'SELECT length(p::text) AS length FROM movement_plans p WHERE movement_id = $1::uuid',
    made.movement_id,
  );
  expect(stored?.length).toBeLessThan(1.2 * (note.length + label.length));
  const used = await readKeyUse(bench.db, 'once', 'once');
  expect(used).toEqual({ movement_id: made.movement_id, request });
  const again = await createMovement(bench.db, { ...draft, auto_approve_result: null });
  expect(again).toEqual({ created: false, movement_id: made.movement_id, request });
  // A request without them stays one.
  const bare = { ...draft, idempotency_key: 'bare', request: { strategy_id: 's' } };
  await createMovement(bench.db, { ...bare, auto_approve_result: null });
  expect((await readKeyUse(bench.db, 'once', 'bare'))?.request).toEqual({ strategy_id: 's' });
});

test('a plan that would be read back as another one is not stored', async () => {
  const draft = bench.draft();
  // No template has such a field: a node's own part is kept under it.
  const nodes = draft.plan.nodes.map((each) => ({ ...each, left_out: ['amount'] }));
  const plan = { ...draft.plan, nodes };
  const key = 'read-back';
  await expect(
    createMovement(bench.db, { ...draft, plan, idempotency_key: key, auto_approve_result: null }),
  ).rejects.toThrow('read back as another one');
  expect(await bench.sql('SELECT 1 FROM movements WHERE idempotency_key = $1', key)).toEqual([]);
});

test('neither the service nor the owner of the tables changes what a movement was made of', async () => {
  const made = await bench.movement();
  const { movement_id } = made;
  const changes = [
    'UPDATE movement_plans SET compiled_plan_hash = compiled_plan_hash',
    'DELETE FROM movement_plans',
  ];
  for (const change of changes)
    await expect(bench.sql(change)).rejects.toThrow('movement_plans is append-only');
  await bench.sql('CREATE ROLE service_of_plans');
  await bench.sql("SELECT grant_service('service_of_plans')::text");
  for (const change of [...changes, 'TRUNCATE movement_plans'])
    await expect(
      bench.db.$transaction(async (tx) => {
        await tx.$executeRawUnsafe('SET LOCAL ROLE service_of_plans');
        await tx.$executeRawUnsafe(change);
      }),
    ).rejects.toThrow('permission denied for table movement_plans');
  expect(await readPlan(bench.db, movement_id)).not.toBeNull();
});

test('a transition that changes no state writes no index of its movement', async () => {
  const { movement_id } = await bench.movement();
  const [row] = await bench.db.$transaction(async (tx) => {
    const doc = JSON.stringify({
      movement_id,
      nodes: [{ node_key: 'pay', states: ['BLOCKED'], set: { error_count: 1 } }],
      timeline: [],
    });
    await tx.$queryRawUnsafe('SELECT apply_transition($1::jsonb)', doc);
    return tx.$queryRawUnsafe<{ updated: bigint; hot: bigint }[]>(
      `SELECT n_tup_upd AS updated, n_tup_hot_upd AS hot FROM pg_stat_xact_user_tables
       WHERE relname = 'movements'`,
    );
  });
  expect(row).toEqual({ updated: 1n, hot: 1n });
});
