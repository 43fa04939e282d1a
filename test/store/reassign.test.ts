/** A payment has one node, also while a person gives it to another. */
import fc from 'fast-check';
import { createApi } from '../../api/app.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import { claimsOf } from '../../domain/claims.ts';
import type { GraphEdge } from '../../domain/graph/types.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import type { NodeState } from '../../domain/states/node.ts';
import { NOW } from '../../domain/transition.ts';
import { applyTransition } from '../../store/transition.ts';
import { dependencies, post, serve } from '../api/support.ts';
import { paying, waitForLocks, storeBench } from './support.ts';
import { started } from '../support/started.ts';

const bench = storeBench();
/** The runs that were woken, with the strategies whose turns they would be started with. */
const woken: (readonly [movement_id: string, strategy: string | null])[] = [];
const api = started(() =>
  serve(
    createApi(
      {
        ...dependencies(),
        db: bench.db,
        handOver: (id, { strategy_id }) => void woken.push([id, strategy_id]),
      },
      movementRoutes,
    ),
  ),
);

const ADDRESS = '0x00000000000000000000000000000000000000a1';
const PLACE: JsonObject = {
  chain_id: 1,
  token_address: '0x01',
  address: ADDRESS,
  min_increase: '1',
};
/** The coin of a chain, which no token names. */
const COIN: JsonObject = { chain_id: 1, address: ADDRESS, min_increase: '1' };
const LOOK: TemplateNode = {
  node_key: 'look',
  node_kind: 'observe',
  action_type: 'evm_balance_observe',
  has_side_effect: false,
  config: PLACE,
};
const PAY = paying('pay', {
  venue: 'v',
  asset: 'USDC',
  amount_ref: 'nodes.look.output.received_amount',
});
const GATE: TemplateNode = {
  node_key: 'gate',
  node_kind: 'manual_gate',
  action_type: 'manual_gate',
  config: {},
  has_side_effect: false,
};
const OTHERWISE: TemplateNode = { ...GATE, node_key: 'otherwise' };
/** Pays from elsewhere where the payment does not come in time. */
const LATE = paying('late', { venue: 'elsewhere', asset: 'USDC' });
const UNUSUAL = new Map<string, GraphEdge['edge_type']>([
  ['otherwise', 'on_failure'],
  ['late', 'on_timeout'],
]);

/** A movement under way that looks for 5; what is behind the look is in these states. */
async function looks(
  state: NodeState,
  {
    look = LOOK,
    after = [],
  }: { look?: TemplateNode; after?: readonly (readonly [TemplateNode, NodeState])[] } = {},
): Promise<string> {
  const nodes = [look, ...after.map(([each]) => each)];
  const { movement_id } = await bench.movement({
    amount: '5',
    unheld: true,
    shape: {
      nodes,
      edges: after.map(([to], at) => ({
        from: UNUSUAL.has(to.node_key) ? 'look' : (nodes[at]?.node_key ?? ''),
        to: to.node_key,
        edge_type: UNUSUAL.get(to.node_key) ?? 'on_success',
        priority: 0,
        join_key: null,
        condition_expr: null,
      })),
    },
  });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved'
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  for (const [key, now] of [
    ['look', state] as const,
    ...after.map(([to, is]) => [to.node_key, is] as const),
  ])
    await bench.sql(
      `UPDATE movement_nodes SET state = $3, started_at = svc_now() - interval '3 hours',
        completed_at = CASE WHEN $3 IN ('COMPLETED', 'SKIPPED') THEN svc_now() END,
        submitted_at = CASE WHEN node_key = 'look' THEN svc_now() - interval '3 hours' END
        WHERE movement_id = $1::uuid AND node_key = $2`,
      movement_id,
      key,
      now,
    );
  return movement_id;
}

let paid = 0;

/** A movement whose look is completed with a payment of 5; `unnamed`: by its reference alone. */
async function holds(
  after: readonly (readonly [TemplateNode, NodeState])[] = [],
  { look = LOOK, unnamed = false }: { look?: TemplateNode; unnamed?: boolean } = {},
): Promise<{ readonly id: string; readonly reference: string }> {
  const id = await looks('OBSERVING', { look, after });
  paid += 1;
  const reference = `0x${String(paid).padStart(64, '0')}#0`;
  const payments = [{ source: 'evm:1', reference, amount: '5', total: '5' }];
  const output = {
    baseline_block: '7',
    baseline_amount: '0',
    received_amount: '5',
    ...(unnamed ? {} : { payments }),
  };
  const { action_type } = look;
  const claims = claimsOf({ action_type, output, matched: null, external_ref: reference });
  const outcome = await applyTransition(bench.db, {
    movement_id: id,
    nodes: [
      {
        node_key: 'look',
        from: 'OBSERVING',
        moves: ['COMPLETED'],
        claims,
        set: { output, completed_at: NOW },
      },
    ],
    timeline: [],
  });
  expect(outcome.ok).toBe(true);
  return { id, reference };
}

const reassign = (holder: string, target: string, node_key = 'look', url = api.url) =>
  post(`${url}/v3/movements/${holder}/nodes/look/actions/reassign`, {
    to_movement_id: target,
    to_node_key: node_key,
    reason: 'the sender said so',
    evidence: { letter: 1 },
  });
const refusedAs = (detail: object) => ({ status: 409, body: { detail } });

interface Row {
  readonly state: NodeState;
  readonly attempt: number;
  readonly amount: string | null;
  readonly output: Readonly<Record<string, unknown>> | null;
}

async function nodeOf(movement_id: string, key = 'look'): Promise<Row> {
  const [row] = await bench.sql<Row>(
    `SELECT state, attempt, trim_scale(amount)::text AS amount, output FROM movement_nodes
      WHERE movement_id = $1::uuid AND node_key = $2`,
    movement_id,
    key,
  );
  if (row === undefined) throw new Error('there is no such node');
  return row;
}

const holderOf = async (reference: string): Promise<readonly string[]> =>
  (
    await bench.sql<{ movement_id: string }>(
      'SELECT movement_id FROM payment_claims WHERE reference = $1',
      reference,
    )
  ).map(({ movement_id }) => movement_id);

test('what its payment had opened and closed is as before, and nothing of it is left', async () => {
  const { id, reference } = await holds([
    [PAY, 'READY'],
    [OTHERWISE, 'SKIPPED'],
  ]);
  // Its preflight has worked out what it would pay.
  await bench.sql(
    `UPDATE movement_nodes SET preflight_passed = true, amount = 5, prepared_action = '{"to": "x"}'
      WHERE movement_id = $1::uuid AND node_key = 'pay'`,
    id,
  );
  const target = await looks('OBSERVING');
  expect(await reassign(id, target)).toMatchObject({ status: 200 });
  expect(await nodeOf(id)).toMatchObject({
    state: 'OBSERVING',
    attempt: 1,
    output: { baseline_block: '7', baseline_amount: '0' },
  });
  expect((await nodeOf(id)).output).not.toHaveProperty('payments');
  expect(await nodeOf(id, 'pay')).toMatchObject({ state: 'BLOCKED', attempt: 2, amount: null });
  expect((await nodeOf(id, 'otherwise')).state).toBe('BLOCKED');
  const [cleared] = await bench.sql<{ passed: boolean; prepared: unknown; anew: boolean }>(
    `SELECT p.preflight_passed AS passed, p.prepared_action AS prepared,
        l.submitted_at > svc_now() - interval '1 minute' AS anew
      FROM movement_nodes p JOIN movement_nodes l USING (movement_id)
      WHERE movement_id = $1::uuid AND p.node_key = 'pay' AND l.node_key = 'look'`,
    id,
  );
  expect(cleared).toEqual({ passed: false, prepared: null, anew: true });
  expect(await nodeOf(target)).toMatchObject({
    state: 'COMPLETED',
    output: { received_amount: '5', payments: [{ reference }] },
  });
  expect(await holderOf(reference)).toEqual([target]);
  // And back, since that was wrong too.
  expect(await reassign(target, id)).toMatchObject({ status: 200 });
  expect([(await nodeOf(id)).state, (await nodeOf(target)).state]).toEqual([
    'COMPLETED',
    'OBSERVING',
  ]);
  expect(await holderOf(reference)).toEqual([id]);
});

test('each of both movements is woken with the turn of its own strategy', async () => {
  const [{ id }, target] = [await holds(), await looks('OBSERVING')];
  for (const [movement, strategy] of [
    [id, 'of the holder'],
    [target, 'of the target'],
  ])
    await bench.sql(
      'UPDATE movements SET strategy_id = $2 WHERE movement_id = $1::uuid',
      movement,
      strategy,
    );
  woken.length = 0;
  expect(await reassign(id, target)).toMatchObject({ status: 200 });
  expect(woken).toEqual([
    [id, 'of the holder'],
    [target, 'of the target'],
  ]);
});

test.each<NodeState>(['SUBMITTING', 'SUBMITTED', 'OBSERVING', 'COMPLETED', 'FAILED', 'UNKNOWN'])(
  'where something behind it is %s, the payment stays',
  async (state) => {
    const { id, reference } = await holds([[PAY, state]]);
    const target = await looks('OBSERVING');
    expect(await reassign(id, target)).toMatchObject(
      refusedAs({ error: 'not_reassignable', reason: 'passed_on', nodes: ['pay'] }),
    );
    expect(await holderOf(reference)).toEqual([id]);
    expect([(await nodeOf(id)).state, (await nodeOf(target)).state]).toEqual([
      'COMPLETED',
      'OBSERVING',
    ]);
  },
);

test.each([
  'submitted_at = svc_now()',
  'recover_first = true',
  'restored = true',
  // What a send leaves that was looked for and not found: it may land after all.
  'submit_epoch = 2',
])('what may have been sent before counts as started: %s', async (set) => {
  const { id } = await holds([[PAY, 'READY']]);
  await bench.sql(
    `UPDATE movement_nodes SET ${set} WHERE movement_id = $1::uuid AND node_key = 'pay'`,
    id,
  );
  expect(await reassign(id, await looks('OBSERVING'))).toMatchObject(
    refusedAs({ reason: 'passed_on' }),
  );
});

test('only payments are moved, and only to where they arrived', async () => {
  const { id } = await holds();
  const elsewhere: TemplateNode = { ...LOOK, config: { ...PLACE, address: '0x02' } };
  const target = await looks('OBSERVING', { look: elsewhere });
  expect(await reassign(id, target)).toMatchObject(refusedAs({ reason: 'another_place' }));
  const empty = await looks('COMPLETED');
  expect(await reassign(empty, await looks('OBSERVING'))).toMatchObject(
    refusedAs({ reason: 'no_payment' }),
  );
  expect(await reassign(id, await looks('READY'))).toMatchObject(
    refusedAs({ error: 'invalid_state' }),
  );
  expect(await reassign(await looks('OBSERVING'), id)).toMatchObject(
    refusedAs({ error: 'invalid_state' }),
  );
  expect(await reassign(id, target, 'unknown')).toMatchObject({
    status: 404,
    body: { detail: { error: 'node_not_found' } },
  });
  for (const over of ['COMPLETED', 'FAILED', 'CANCELLED']) {
    await bench.sql(
      'UPDATE movements SET request_state = $2, ended_at = svc_now() WHERE movement_id = $1::uuid',
      id,
      over,
    );
    expect(await reassign(id, await looks('OBSERVING'))).toMatchObject(
      refusedAs({ reason: 'movement_over' }),
    );
  }
});

test('what names no amount is not reassigned as one of one', async () => {
  const { id, reference } = await holds([], { unnamed: true });
  const target = await looks('OBSERVING', { after: [[PAY, 'BLOCKED']] });
  expect(await reassign(id, target)).toMatchObject(refusedAs({ reason: 'no_payment' }));
  expect((await nodeOf(target)).state).toBe('OBSERVING');
  expect(await holderOf(reference)).toEqual([id]);
});

test.each<[string, JsonObject, JsonObject]>([
  ['another wallet', { wallet: 'one' }, { wallet: 'two' }],
  ['a chain without an address', { chain_id: 1 }, { chain_id: 1 }],
  ['another token', { ...PLACE, token_address: '0x02' }, PLACE],
  ['another chain', { ...PLACE, chain_id: 2 }, PLACE],
  ['another coin', { ...COIN, asset: 'ETH' }, { ...COIN, asset: 'BTC' }],
])('a place that is not named is no place: %s', async (_what, config, other) => {
  const { id } = await holds([], { look: { ...LOOK, config } });
  const target = await looks('OBSERVING', { look: { ...LOOK, config: other } });
  expect(await reassign(id, target)).toMatchObject(refusedAs({ reason: 'another_place' }));
});

test('a deposit is reassigned within an account, where it is named', async () => {
  const at = (config: JsonObject): TemplateNode => ({
    ...LOOK,
    action_type: 'cex_deposit_observe',
    config,
  });
  const { id, reference } = await holds([], { look: at({ venue: 'Main' }) });
  const nowhere = await holds([], { look: at({}) });
  const refused = refusedAs({ reason: 'another_place' });
  for (const config of [{}, { venue: 'other' }, { venue: 'main', asset: 'BTC' }])
    expect(await reassign(id, await looks('OBSERVING', { look: at(config) }))).toMatchObject(
      refused,
    );
  expect(await reassign(nowhere.id, await looks('OBSERVING', { look: at({}) }))).toMatchObject(
    refused,
  );
  const target = await looks('OBSERVING', { look: at({ venue: 'main' }) });
  expect(await reassign(id, target)).toMatchObject({ status: 200 });
  expect(await holderOf(reference)).toEqual([target]);
});

test('within a movement too', async () => {
  const { id, reference } = await holds();
  const second: TemplateNode = { ...LOOK, node_key: 'second' };
  const both = await looks('OBSERVING', { after: [[second, 'BLOCKED']] });
  expect(await reassign(id, both, 'look')).toMatchObject({ status: 200 });
  // What is behind it has started as soon as it waits itself.
  await bench.sql(
    `UPDATE movement_nodes SET state = 'OBSERVING' WHERE movement_id = $1::uuid
      AND node_key = 'second'`,
    both,
  );
  expect(await reassign(both, both, 'second')).toMatchObject(refusedAs({ reason: 'passed_on' }));
  expect(await holderOf(reference)).toEqual([both]);
});

test('whatever is sent while it is decided, or before, is seen under the lock', async () => {
  const { id, reference } = await holds([[PAY, 'READY']]);
  const target = await looks('OBSERVING');
  const sending = bench.db.$transaction(async (db) => {
    await db.$executeRawUnsafe(
      `SELECT FROM movement_nodes WHERE movement_id = '${id}' AND node_key = 'pay' FOR UPDATE`,
    );
    const answer = reassign(id, target);
    await waitForLocks(bench, 1);
    await db.$executeRawUnsafe(
      `UPDATE movement_nodes SET state = 'SUBMITTING'
        WHERE movement_id = '${id}' AND node_key = 'pay'`,
    );
    return [answer];
  });
  const [answer] = await sending;
  expect(await answer).toMatchObject(refusedAs({ reason: 'passed_on' }));
  expect(await holderOf(reference)).toEqual([id]);
  // The other way round the send of before finds its attempt gone.
  const other = await holds([[PAY, 'READY']]);
  expect(await reassign(other.id, target)).toMatchObject({ status: 200 });
  const fence = await applyTransition(bench.db, {
    movement_id: other.id,
    nodes: [{ node_key: 'pay', from: 'READY', moves: ['SUBMITTING'], attempt: 1 }],
    timeline: [],
  });
  expect(fence).toMatchObject({ ok: false, reason: 'node_state' });
});

test('a send that was lost while it is decided is seen under the lock', async () => {
  const { id, reference } = await holds([[PAY, 'READY']]);
  const target = await looks('OBSERVING');
  // Sent, looked up, and nothing landed yet: the attempt is the same and the node is READY again.
  const [answer] = await bench.db.$transaction(async (db) => {
    await db.$executeRawUnsafe(
      `SELECT FROM movement_nodes WHERE movement_id = '${id}' AND node_key = 'pay' FOR UPDATE`,
    );
    const pending = reassign(id, target);
    await waitForLocks(bench, 1);
    await db.$executeRawUnsafe(
      `UPDATE movement_nodes SET submit_epoch = 2
        WHERE movement_id = '${id}' AND node_key = 'pay'`,
    );
    return [pending];
  });
  expect(await answer).toMatchObject(refusedAs({ reason: 'passed_on', nodes: ['pay'] }));
  expect(await nodeOf(id, 'pay')).toMatchObject({ state: 'READY', attempt: 1 });
  expect(await holderOf(reference)).toEqual([id]);
});

/** An API with this fetched balance; `more`: what the venue answers to a new read. */
async function fetching<T>(more: string | null, use: (url: string) => Promise<T>): Promise<T> {
  const none = () => Promise.resolve({ pools: [], outlook: null });
  const venue = { venue_key: 'elsewhere', interval_seconds: 60, fetch: none };
  const balances = {
    venues: [venue],
    refresh: () => (more === null ? null : balanceIs(more)),
    failingSeconds: () => null,
  };
  const other = await serve(
    createApi({ ...dependencies(), db: bench.db, balances }, movementRoutes),
  );
  try {
    return await use(other.url);
  } finally {
    await other.close();
  }
}

async function balanceIs(withdrawable: string): Promise<void> {
  const rows = JSON.stringify([{ account_type: 'SPOT', asset: 'USDC', withdrawable }]);
  await bench.sql(
    `SELECT FROM (SELECT store_balances('elsewhere', svc_now(), $1::jsonb)) AS stored`,
    rows,
  );
}

test('what was skipped draws again only where that is covered', async () => {
  const { id, reference } = await holds([[LATE, 'SKIPPED']]);
  const target = await looks('OBSERVING');
  const held = () =>
    bench.sql(
      `SELECT trim_scale(amount)::text AS amount FROM reservations
        WHERE movement_id = $1::uuid AND status = 'held'`,
      id,
    );
  for (const [balance, details] of [
    [null, { reason: 'stale_snapshot' }],
    ['4', { reason: 'insufficient', effective_withdrawable: '4' }],
  ] as const) {
    if (balance !== null) await balanceIs(balance);
    expect(await fetching(null, (url) => reassign(id, target, 'look', url))).toMatchObject(
      refusedAs({
        error: 'insufficient_effective_withdrawable',
        venue_key: 'elsewhere',
        ...details,
      }),
    );
    expect(await nodeOf(id)).toMatchObject({ state: 'COMPLETED' });
    expect(await nodeOf(id, 'late')).toMatchObject({ state: 'SKIPPED' });
    expect(await nodeOf(target)).toMatchObject({ state: 'OBSERVING' });
    expect([await holderOf(reference), await held()]).toEqual([[id], []]);
  }
  expect(await fetching('5', (url) => reassign(id, target, 'look', url))).toMatchObject({
    status: 200,
  });
  expect([await holderOf(reference), await held()]).toEqual([[target], [{ amount: '5' }]]);
});

test('a claim that is never found under the lock is no payment', async () => {
  const { id } = await holds();
  const target = await looks('OBSERVING');
  const [found] = await bench.sql<{ text: string }>(
    `SELECT pg_get_functiondef('lock_claims'::regproc) AS text`,
  );
  await bench.db.$executeRawUnsafe(
    `CREATE OR REPLACE FUNCTION lock_claims(movement uuid, node text) RETURNS boolean
      LANGUAGE sql AS 'SELECT false'`,
  );
  try {
    expect(await reassign(id, target)).toMatchObject(
      refusedAs({ error: 'not_reassignable', reason: 'no_payment' }),
    );
  } finally {
    await bench.db.$executeRawUnsafe(found?.text ?? '');
  }
});

test('no write takes what a completed node keeps', async () => {
  const { id, reference } = await holds();
  const target = await looks('OBSERVING');
  const takes = (holder: string) =>
    applyTransition(bench.db, {
      movement_id: target,
      nodes: [
        {
          node_key: 'look',
          from: 'OBSERVING',
          moves: ['COMPLETED'],
          takes: { movement_id: holder, node_key: 'look' },
        },
      ],
      timeline: [],
    });
  await expect(takes(id)).rejects.toThrow(/keeps its claims/);
  // Nor does one complete with what the other has not.
  expect(await takes(await looks('OBSERVING'))).toMatchObject({ reason: 'claim_missing' });
  expect(await holderOf(reference)).toEqual([id]);
  expect((await nodeOf(target)).state).toBe('OBSERVING');
});

test('a payment that is reassigned to many at once goes to one of them', async () => {
  const { id, reference } = await holds();
  const targets = await Promise.all(Array.from({ length: 6 }, () => looks('OBSERVING')));
  const answers = await Promise.all(targets.map((target) => reassign(id, target)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  const [owner, ...others] = await holderOf(reference);
  expect(others).toEqual([]);
  const rows = await Promise.all(targets.map((target) => nodeOf(target)));
  expect(targets.filter((_target, at) => rows[at]?.state === 'COMPLETED')).toEqual([owner]);
});

test('however payments are moved at once, each completed node has its own and no other has one', async () => {
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { minLength: 4, maxLength: 12 }),
      async (moves) => {
        const held = await Promise.all([holds(), holds(), holds()]);
        const free = await Promise.all([1, 2, 3].map(() => looks('OBSERVING')));
        const ids = [...held.map(({ id }) => id), ...free];
        const answers = await Promise.all(
          moves.map(([from, to]) => reassign(ids[from] ?? '', ids[to] ?? '')),
        );
        expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
        moved += answers.filter(({ status }) => status === 200).length;
        const rows = await bench.sql<{ whole: boolean }>(
          `SELECT (n.state = 'COMPLETED') = (count(c) = 1) AND bool_and(c IS NULL OR p.claimed = 5)
              AS whole
            FROM movement_nodes n
            LEFT JOIN payment_claims c USING (movement_id, node_key)
            LEFT JOIN payments p USING (source, reference)
            WHERE n.movement_id = ANY($1::uuid[]) GROUP BY n.movement_id, n.state`,
          ids,
        );
        expect(rows).toHaveLength(6);
        expect(rows.every(({ whole }) => whole)).toBe(true);
        const claims = await bench.sql(
          'SELECT 1 FROM payment_claims WHERE reference = ANY($1)',
          held.map(({ reference }) => reference),
        );
        expect(claims).toHaveLength(3);
      },
    ),
    { numRuns: 10 },
  );
  expect(moved).toBeGreaterThan(3);
});
