/** The movements that a policy is tried on: whose, of which time, and what became of them. */
import { randomUUID } from 'node:crypto';
import type { PastMovement } from '../../domain/auto-approve/past.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { readPastMovements } from '../../store/auto-approve.ts';
import { createMovement } from '../../store/movements.ts';
import { paying, storeBench, type DraftOptions } from './support.ts';

const bench = storeBench();

const SINCE = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T01:00:00.000Z';
const BEFORE = '2026-01-01T02:00:00.000Z';

/** Reads and makes movements of a client of its own. */
function pastOf() {
  const client_id = randomUUID();
  const strategy_id = randomUUID();
  const made = async (
    created_at: string,
    more: DraftOptions = {},
    created_by: JsonObject = { client_id, role: 'operator' },
  ): Promise<string> => {
    const draft = { ...bench.draft({ strategy_id, unheld: true, ...more }), created_by };
    const { movement_id } = await createMovement(bench.db, { ...draft, auto_approve_result: null });
    await bench.sql(
      'UPDATE movements SET created_at = $2::timestamptz WHERE movement_id = $1::uuid',
      movement_id,
      created_at,
    );
    return movement_id;
  };
  const read = (limit = 100, last?: PastMovement): Promise<readonly PastMovement[]> =>
    readPastMovements(
      bench.db,
      { client_id, strategy_id, since: SINCE, before: BEFORE },
      {
        after: last === undefined ? null : { created_at: last.created_at, id: last.movement_id },
        limit,
      },
    );
  return { client_id, made, read };
}

const idsOf = (past: readonly PastMovement[]): readonly string[] =>
  past.map(({ movement_id }) => movement_id);

test('are those of a client, a strategy and a time, oldest first, also in pages', async () => {
  const { client_id, made, read } = pastOf();
  await made(BEFORE);
  await made('2025-12-31T23:59:59.999Z');
  const last = await made('2026-01-01T01:59:59.999Z');
  await made(LATER, {}, { client_id: randomUUID(), role: 'operator' });
  await made(LATER, {}, { client_id: null, role: 'admin' });
  await made(LATER, {}, {});
  await made(LATER, { strategy_id: randomUUID() });
  const same = [
    await made(LATER),
    await made(LATER, { amount: '4.50' }, { client_id, role: 'agent' }),
  ];
  const first = await made(SINCE);
  const past = await read();
  expect(idsOf(past)).toEqual([first, ...same.sort(), last]);
  expect(past.filter(({ by_agent }) => by_agent).map(({ amount }) => amount)).toEqual(['4.5']);
  expect(past[0]).toEqual({
    movement_id: first,
    created_at: SINCE,
    template_key: 'test/store',
    template_version: 1,
    asset: 'USDC',
    amount: '3',
    outflow: [{ asset: 'USDC', amount: '3' }],
    only_observes: false,
    by_agent: false,
    state: 'PENDING_APPROVAL',
    became: null,
  });

  const paged: PastMovement[] = [];
  for (let page = await read(1); page.length > 0; page = await read(1, page[0]))
    paged.push(...page);
  expect(paged).toEqual(past);
});

test('say who approved them', async () => {
  const { made, read } = pastOf();
  const approvers = ['key', 'auth_off', 'policy', 'template_cap', null];
  const ids: Record<string, unknown> = {};
  for (const by of approvers) {
    const id = await made(LATER);
    ids[id] = by;
    if (by !== null)
      await bench.sql(
        `INSERT INTO movement_approvals (movement_id, plan_hash, approved_by, name, at)
         SELECT movement_id, compiled_plan_hash, $2::text,
           CASE WHEN $2::text <> 'auth_off' THEN 'x' END, svc_now()
         FROM movement_plans WHERE movement_id = $1::uuid`,
        id,
        by,
      );
  }
  const past = await read();
  expect(past.map(({ movement_id, became }) => [ids[movement_id], became]).sort()).toEqual(
    [
      ['key', 'person'],
      ['auth_off', 'person'],
      ['policy', 'policy'],
      ['template_cap', 'template_cap'],
      [null, null],
    ].sort(),
  );
});

test('say whether the plan only observes', async () => {
  const { made, read } = pastOf();
  const look: TemplateNode = {
    node_key: 'look',
    node_kind: 'observe',
    action_type: 'acme_look',
    has_side_effect: false,
    config: {},
  };
  const allow: TemplateNode = {
    node_key: 'allow',
    node_kind: 'action',
    action_type: 'evm_erc20_approve',
    has_side_effect: true,
    config: {},
  };
  const of = (...nodes: readonly TemplateNode[]): DraftOptions => ({ shape: { nodes, edges: [] } });
  // The request sets the amount of every node, and the nodes' rows do not repeat it.
  const none = { input_params: { node_config: { amount: '0' } } };
  const expected = new Map([
    [await made(LATER, of(look)), true],
    [await made(LATER, { ...of(look, allow), ...none }), true],
    [await made(LATER, of(look, allow)), false],
    [await made(LATER, of(look, paying('pay', {}))), false],
    [await made(LATER, of(paying('pay', {}))), false],
  ]);
  const found = (await read()).map((each) => [each.movement_id, each.only_observes] as const);
  expect(new Map(found)).toEqual(expected);
});
