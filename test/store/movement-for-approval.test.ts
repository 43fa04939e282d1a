/** What is read of a movement that waits for an approval: for whom, and in how many turns. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '../../api/app.ts';
import type { ApprovalRule } from '../../domain/approval/rule.ts';
import { createMovement } from '../../store/movements.ts';
import { readForApproval, readMovement } from '../../store/movement-detail.ts';
import { readPlan } from '../../store/movement-reads.ts';
import { changeApprovers, readApprovals } from '../../store/approvals.ts';
import { applyTransition } from '../../store/transition.ts';
import type { Database, Sql } from '../../prisma/client.ts';
import { routes } from '../../venues/routes.ts';
import { dependencies, send, serve } from '../api/support.ts';
import { approvalOf, BURNER, BURNING, storeBench, type DraftOptions } from './support.ts';

const bench = storeBench();
const PEOPLE = ['ann', 'bob'];
const idOf = (person: string) => `client-of-${person}`;

const movement = async (more?: DraftOptions): Promise<string> =>
  (await createMovement(bench.db, { ...bench.draft(more), payees: [], auto_approve_result: null }))
    .movement_id;

describe('with a rule', () => {
  beforeAll(async () => {
    const rule: ApprovalRule = {
      applies_to: 'movement',
      when: {},
      require: [{ group: 'desk', threshold: 1 }],
      initiator_may_approve: true,
      payee_author_may_approve: true,
      template_author_may_approve: true,
      reason_required: false,
    };
    const people = PEOPLE.map((person) => ({ person, name: person, identities: [idOf(person)] }));
    const groups = [{ name: 'desk', members: PEOPLE }];
    await changeApprovers(bench.db, { people, groups, rules: [{ name: 'two', rule }] }, []);
  });
  afterAll(async () => {
    await changeApprovers(bench.db, { rules: [{ name: 'two', remove: true }] }, []);
  });

  test('each approver gets plan and standing, and their own person, in a shared read', async () => {
    const id = await movement();
    const other = await movement();
    const [ann, bob, stranger, open, plain, second] = await Promise.all([
      readForApproval(bench.db, id, idOf('ann')),
      readForApproval(bench.db, id, idOf('bob')),
      readForApproval(bench.db, id, '__proto__'),
      readForApproval(bench.db, id, null),
      readMovement(bench.db, id),
      readForApproval(bench.db, other, idOf('bob')),
    ]);
    const { rules } = await readApprovals(bench.db, id, null);
    expect(rules.map(({ name }) => name)).toEqual(['two']);
    const plan = await readPlan(bench.db, id);
    expect(plan?.nodes.map(({ node_key }) => node_key)).toEqual(['pay']);
    const statuses = { executors: new Map(), signers: new Map() };
    const waiting = (person: string | null) => ({ plan, standing: { rules, person }, statuses });
    expect([ann, bob, stranger, open].map((each) => each?.waiting)).toEqual(
      ['ann', 'bob', null, null].map(waiting),
    );
    expect(ann?.movement).toEqual(plain);
    for (const column of ['waiting_plan', 'inactive_executors', 'inactive_signers'])
      expect(plain).not.toHaveProperty(column);
    expect(second?.movement.movement_id).toBe(other);
    expect(second?.waiting?.standing.person).toBe('bob');
  });
});

test('equal plans are one object, and a plan that differs in one field is another', async () => {
  const read = async (id: string) => (await readForApproval(bench.db, id, null))?.waiting?.plan;
  const first = await movement({ amount: '3.25' });
  const other = await movement({ amount: '3.26' });
  const plan = await read(first);
  expect(plan?.intent.amount).toBe('3.25');
  expect(plan).toEqual(await readPlan(bench.db, first));
  expect(await read(other)).toEqual(await readPlan(bench.db, other));
  expect((await read(other))?.intent.amount).toBe('3.26');
  for (const id of [first, await movement({ amount: '3.25' })]) expect(await read(id)).toBe(plan);
});

test('one that was decided has nothing that waits, and an unknown one is null', async () => {
  const id = await movement();
  expect(await applyTransition(bench.db, approvalOf(id))).toMatchObject({ ok: true });
  expect(await readForApproval(bench.db, id, null)).toMatchObject({
    movement: { movement_id: id, request_state: 'APPROVED' },
    waiting: null,
  });
  const unknown = '01980c1e-7a3b-7c3e-9d5f-2b1a6c4e8f01';
  expect(await readForApproval(bench.db, unknown, null)).toBeNull();
});

/** The same database, whose statements go through this. */
const withSql = (db: Database, sql: Sql): Database =>
  new Proxy(db, {
    get: (target, name): unknown => (name === 'sql' ? sql : Reflect.get(target, name)),
  });

test('who looks after a decision sees it, though an earlier look is still under way', async () => {
  const id = await movement();
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let noteRead = (): void => undefined;
  const isRead = new Promise<void>((resolve) => (noteRead = resolve));
  let looks = 0;
  const sql: Sql = async (text, ...values) => {
    looks += 1;
    const isFirst = looks === 1;
    const rows = await bench.db.sql<never>(text, ...values);
    if (!isFirst) return rows;
    noteRead();
    await held;
    return rows;
  };
  const db = withSql(bench.db, sql);
  const early = readForApproval(db, id, idOf('ann'));
  await isRead;
  expect(await applyTransition(bench.db, approvalOf(id))).toMatchObject({ ok: true });
  const late = readForApproval(db, id, idOf('ann'));
  letGo();
  expect((await early)?.movement.request_state).toBe('PENDING_APPROVAL');
  expect(await late).toMatchObject({ movement: { request_state: 'APPROVED' }, waiting: null });
});

/** The same database, which counts statements, and those that start while no other one runs. */
function counting(db: Database): {
  readonly db: Database;
  readonly counts: () => { readonly statements: number; readonly turns: number };
} {
  let running = 0;
  let turns = 0;
  let statements = 0;
  const sql: Sql = async (text, ...values) => {
    statements += 1;
    if (running === 0) turns += 1;
    running += 1;
    try {
      const rows = await db.sql<never>(text, ...values);
      await sleep(50);
      return rows;
    } finally {
      running -= 1;
    }
  };
  return { db: withSql(db, sql), counts: () => ({ statements, turns }) };
}

test.each<[string, DraftOptions, readonly object[], number]>([
  ['draws on one balance is read in two statements', {}, [{ venue_key: 'v', asset: 'USDC' }], 2],
  ['draws on nothing is read in one statement', { unheld: true }, [], 1],
])('the detail of one that waits and %s', async (_how, more, balances, count) => {
  const id = await movement(more);
  const { db, counts } = counting(bench.db);
  const served = await serve(createApi({ ...dependencies(), db }, routes));
  try {
    const { status, body } = await send(`${served.url}/v3/movements/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      request_state: 'PENDING_APPROVAL',
      review: { balances },
    });
    expect(counts()).toEqual({ statements: count, turns: count });
  } finally {
    await served.close();
  }
});

/** A movement whose nodes each send on the chain, all signed by `kept-old` when it was created. */
async function signedMovement(...node_keys: readonly string[]): Promise<string> {
  await bench.sql(
    `INSERT INTO signers (signer_key, status, backend, chain_family, created_at, updated_at)
      VALUES ('kept-old', 'active', 'local', 'evm', now(), now()),
        ('kept-new', 'disabled', 'local', 'evm', now(), now()) ON CONFLICT DO NOTHING`,
  );
  const config = { chain_id: BURNING.chain_id, asset: 'ETH', destination_address: BURNER };
  const shape = {
    nodes: node_keys.map((node_key) => ({
      node_key,
      node_kind: 'action' as const,
      action_type: 'evm_native_transfer',
      has_side_effect: true,
      config,
    })),
    edges: [],
  };
  const draft = bench.draft({ shape });
  const signer_binding = { signer_key: 'kept-old' };
  const nodes = draft.plan.nodes.map((each) => ({ ...each, signer_binding }));
  const { movement_id } = await createMovement(bench.db, {
    ...draft,
    plan: { ...draft.plan, nodes },
    payees: [],
    auto_approve_result: null,
  });
  return movement_id;
}

const serveChain = () => {
  const chains = [{ ...BURNING, caps: { max_gas_cost_wei: '1', max_fee_per_gas_gwei: null } }];
  return serve(createApi({ ...dependencies(), db: bench.db, chains }, routes));
};

const signBy = (id: string, node_key: string, signer_key: string): Promise<unknown> =>
  bench.sql(
    `UPDATE movement_nodes SET signer_binding = jsonb_build_object('signer_key', $3::text)
      WHERE movement_id = $1::uuid AND node_key = $2`,
    id,
    node_key,
    signer_key,
  );

test('a signer that was replaced between two reads is what the second one shows', async () => {
  const id = await signedMovement('pay');
  const served = await serveChain();
  const shown = async (): Promise<object> =>
    (await send(`${served.url}/v3/movements/${id}`)).body['review'] as object;
  const unlisted = { node_key: 'pay', error: 'ADDRESS_NOT_ALLOWLISTED' };
  const of = (key: string, failing: readonly object[]): object => ({
    sends: [{ node_key: 'pay', amount: '3', payees: [{ allowed: false }] }],
    balances: [{ venue_key: `burning:${key}`, asset: 'ETH', draws: '3' }],
    would_fail: [unlisted, ...failing],
  });
  const disabled = { node_key: 'pay', error: 'binding_unavailable' };
  try {
    for (const [key, failing] of [
      ['kept-old', []],
      ['kept-new', [disabled]],
      ['kept-old', []],
    ] as const) {
      await signBy(id, 'pay', key);
      expect(await shown()).toMatchObject(of(key, failing));
      expect(await shown()).toMatchObject(of(key, failing));
    }
  } finally {
    await served.close();
  }
});

test('the signer that was replaced at one node is shown beside that of the other', async () => {
  const id = await signedMovement('first', 'second');
  const served = await serveChain();
  try {
    await signBy(id, 'second', 'kept-new');
    const { body } = await send(`${served.url}/v3/movements/${id}`);
    expect(body['review']).toMatchObject({
      balances: [
        { venue_key: 'burning:kept-old', draws: '3' },
        { venue_key: 'burning:kept-new', draws: '3' },
      ],
    });
  } finally {
    await served.close();
  }
});

test('an approver sees every binding that is not active, also of a signer that replaced another', async () => {
  const id = await signedMovement('first', 'second');
  const served = await serveChain();
  try {
    await bench.sql(
      `INSERT INTO executors (executor_key, kind, status, action_types, created_at, updated_at)
        VALUES ('acme.payouts', 'local', 'disabled', '{acme_payout}', now(), now()),
          ('acme.active', 'local', 'active', '{acme_payout}', now(), now())`,
    );
    await bench.sql(
      `INSERT INTO signers (signer_key, status, backend, chain_family, created_at, updated_at)
        VALUES ('kept-retired', 'retired', 'local', 'evm', now(), now())`,
    );
    await bench.sql("UPDATE signers SET status = 'deprecated' WHERE signer_key = 'kept-old'");
    await signBy(id, 'second', 'kept-retired');
    const { body } = await send(`${served.url}/v3/movements/${id}`);
    const { would_fail: failing } = body['review'] as {
      readonly would_fail: readonly { readonly error: string; readonly message: string }[];
    };
    const unavailable = failing.filter(({ error }) => error === 'binding_unavailable');
    expect(unavailable.map(({ message }) => message)).toEqual([
      'The executor acme.payouts of first is disabled.',
      'The signer kept-old of first is deprecated.',
      'The executor acme.payouts of second is disabled.',
      'The signer kept-retired of second is retired.',
    ]);
    for (const column of ['inactive_executors', 'inactive_signers'])
      expect(body).not.toHaveProperty(column);
    expect((await readForApproval(bench.db, id, null))?.waiting?.statuses).toEqual({
      executors: new Map([['acme.payouts', 'disabled']]),
      signers: new Map([
        ['kept-new', 'disabled'],
        ['kept-old', 'deprecated'],
        ['kept-retired', 'retired'],
      ]),
    });
  } finally {
    await served.close();
    await bench.sql('DELETE FROM executors');
    await bench.sql('DELETE FROM signers');
  }
});
