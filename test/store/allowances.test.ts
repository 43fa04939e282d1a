/** What movements leave others to pull, as stored sends show it; and what runs anew. */
import { randomUUID } from 'node:crypto';
import { createApi } from '../../api/app.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import { retry } from '../../domain/commands/retry.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { readOpenAllowances, readResetAllowances } from '../../store/allowances.ts';
import { readSnapshot } from '../../store/movements.ts';
import { applyTransition } from '../../store/transition.ts';
import { dependencies, post, send, serve } from '../api/support.ts';
import { BURNER, storeBench } from './support.ts';

const bench = storeBench();

const TOKEN = `0x${'bb'.repeat(20)}`;
const SPENDER = BURNER;
const node = (node_key: string, action_type: string, config: object): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type,
  has_side_effect: true,
  config: { token_address: TOKEN, ...config },
});
const NODES = [
  node('allow', 'evm_erc20_approve', { chain_id: 1, spender: SPENDER }),
  node('first', 'cctp_burn', { source_chain_id: 1, amount: '6' }),
  node('second', 'cctp_burn', { source_chain_id: 1, amount: '4' }),
];
const owner = { address: `0x${'0c'.repeat(20)}`, nonce: 0 };

/** A signed `approve`, or a burn's call. */
const call = (spender: string, units: bigint): object => ({
  to: TOKEN.toUpperCase().replace('0X', '0x'),
  data: `0x095EA7B3${spender.slice(2).toLowerCase().padStart(64, '0')}${units.toString(16).padStart(64, '0')}`,
});

/** What a node has sent, with the owner's next nonce, and what became of it. */
async function sent(movement_id: string, key: string, unsigned: object, outcome = 'COMPLETED') {
  await bench.sql(
    `INSERT INTO evm_transactions (transaction_id, chain_id, address, nonce, signer_key,
      movement_id, node_key, attempt, unsigned, created_at)
     VALUES ($1::uuid, 1, $2, $3::bigint, 's', $4::uuid, $5, 1, $6::jsonb, now())`,
    randomUUID(),
    owner.address,
    (owner.nonce += 1),
    movement_id,
    key,
    JSON.stringify(unsigned),
  );
  await bench.sql(
    `INSERT INTO node_attempts (idempotency_key, movement_id, node_key, attempt, outcome, started_at)
      VALUES ($1::text || ':' || $2 || ':1', $1::uuid, $2, 1, $3, now())`,
    movement_id,
    key,
    outcome,
  );
  await bench.sql(
    'UPDATE movement_nodes SET state = $3 WHERE movement_id = $1::uuid AND node_key = $2',
    movement_id,
    key,
    outcome,
  );
}

/** A failed movement that has allowed 10 and burnt the first 6 of them. */
async function failed(): Promise<string> {
  const edges = ['first', 'second'].map((to, at) => ({
    from: NODES[at]?.node_key ?? '',
    to,
    edge_type: 'on_success' as const,
    priority: 0,
    condition_expr: null,
    join_key: null,
  }));
  const { movement_id } = await bench.movement({ shape: { nodes: NODES, edges }, amount: '10' });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movement_nodes SET amount = CASE node_key WHEN 'allow' THEN 10 WHEN 'first' THEN 6
      ELSE 4 END, updated_at = now() WHERE movement_id = $1::uuid`,
    movement_id,
  );
  await sent(movement_id, 'allow', call(SPENDER, 10n));
  await sent(movement_id, 'first', { to: SPENDER, data: '0x' });
  await sent(movement_id, 'second', { to: SPENDER, data: '0x' }, 'FAILED');
  await bench.sql(
    `UPDATE movements SET request_state = 'FAILED', approval_status = 'approved', ended_at = now()
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  return movement_id;
}

/** Another movement's allowance of the same owner. */
async function allows(spender: string, units: bigint, outcome?: string): Promise<string> {
  const { movement_id } = await bench.movement({
    shape: { nodes: [node('other', 'evm_erc20_approve', { chain_id: 1, spender })], edges: [] },
  });
  await sent(movement_id, 'other', call(spender, units), outcome);
  return movement_id;
}
const set = (id: string, key: string, what: string): Promise<unknown> =>
  bench.sql(
    `UPDATE movement_nodes SET ${what} WHERE movement_id = $1::uuid AND node_key = $2`,
    id,
    key,
  );
const ABANDONED =
  "state = 'FAILED', error_code = 'ABANDONED', completed_at = now(), next_late_look = now()";
/** What the chain showed of an attempt before the one that was abandoned. */
const LANDED_BEFORE = "landed_late_at = now() - interval '1 second', next_late_look = now()";
const LANDED = 'landed_late_at = now(), next_late_look = NULL';
const open = async (id: string): Promise<readonly string[]> =>
  (await readOpenAllowances(bench.db, id)).map(({ amount }) => amount);

test('what its nodes have not pulled is open until the owner allows the spender something else', async () => {
  const movement = await failed();
  expect(await readOpenAllowances(bench.db, movement)).toEqual([
    {
      node_key: 'allow',
      chain_id: 1,
      owner: owner.address,
      signer_key: 's',
      asset: 'USDC',
      token_address: TOKEN,
      spender: SPENDER,
      amount: '4',
    },
  ]);
  await allows(TOKEN, 0n);
  await allows(SPENDER, 0n, 'FAILED');
  expect(await open(movement)).toEqual(['4']);
  await bench.sql('UPDATE movements SET ended_at = NULL WHERE movement_id = $1::uuid', movement);
  expect(await open(movement)).toEqual([]);
  await bench.sql('UPDATE movements SET ended_at = now() WHERE movement_id = $1::uuid', movement);
  expect(await readResetAllowances(bench.db, movement)).toEqual(new Map());
  await allows(SPENDER, 0n);
  expect(await open(movement)).toEqual([]);
  expect(await readResetAllowances(bench.db, movement)).toEqual(new Map([['allow', '4']]));
  await allows(SPENDER, 3n);
  expect(await readResetAllowances(bench.db, movement)).toEqual(new Map());
});

test('what an abandoned node may have pulled stays open, and is not allowed anew', async () => {
  const movement = await failed();
  await set(movement, 'first', ABANDONED);
  expect(await open(movement)).toEqual(['10']);
  // A landing of an earlier attempt proves nothing about this one.
  await set(movement, 'first', LANDED_BEFORE);
  expect(await open(movement)).toEqual(['10']);
  await set(movement, 'first', LANDED);
  expect(await open(movement)).toEqual(['4']);
  await set(movement, 'first', 'landed_late_at = NULL, next_late_look = now()');
  await allows(SPENDER, 0n);
  expect(await open(movement)).toEqual([]);
  expect(await readResetAllowances(bench.db, movement)).toEqual(new Map([['allow', '4']]));
});

test('an abandoned allowance is open once it has landed, and no sooner', async () => {
  const movement = await failed();
  await set(movement, 'first', "state = 'SKIPPED'");
  await set(movement, 'second', "state = 'SKIPPED'");
  await set(movement, 'allow', ABANDONED);
  expect(await open(movement)).toEqual([]);
  await set(movement, 'allow', LANDED_BEFORE);
  expect(await open(movement)).toEqual([]);
  await set(movement, 'allow', LANDED);
  expect(await open(movement)).toEqual(['10']);
  const api = await serve(createApi({ ...dependencies(), db: bench.db }, movementRoutes));
  try {
    const { body } = await send(`${api.url}/v3/movements/${movement}`);
    expect(body['open_allowances']).toMatchObject([{ node_key: 'allow', amount: '10' }]);
  } finally {
    await api.close();
  }
  const reset = await allows(SPENDER, 0n, 'FAILED');
  await set(reset, 'other', ABANDONED);
  expect(await open(movement)).toEqual(['10']);
  await set(reset, 'other', LANDED_BEFORE);
  expect(await open(movement)).toEqual(['10']);
  await set(reset, 'other', LANDED);
  expect(await open(movement)).toEqual([]);
});

test('no one takes back what a replaced signer allowed, and nothing is made', async () => {
  const movement = await failed();
  await bench.sql(
    `INSERT INTO signers (signer_key, status, backend, chain_family, replaced_by, created_at, updated_at)
      VALUES ('next', 'active', 'local', 'evm', NULL, now(), now()),
        ('s', 'retired', 'local', 'evm', 'next', now(), now())`,
  );
  const api = await serve(createApi({ ...dependencies(), db: bench.db }, movementRoutes));
  try {
    expect(
      await post(`${api.url}/v3/movements/${movement}/actions/reset-allowances`, undefined),
    ).toMatchObject({
      status: 409,
      body: {
        detail: {
          error: 'binding_unavailable',
          bindings: [{ binding: 'signer', key: 's', reason: 'replaced' }],
        },
      },
    });
  } finally {
    await api.close();
  }
  const resets = "SELECT 1 FROM movements WHERE template_key = 'system/reset-allowances'";
  expect(await bench.sql(resets)).toEqual([]);
  expect(await open(movement)).toEqual(['4']);
});

test('a retry beside a pull that is under way allows only what the others still pull', async () => {
  const movement = await failed();
  await bench.sql(
    `UPDATE movement_nodes SET state = 'OBSERVING' WHERE movement_id = $1::uuid
      AND node_key = 'first'`,
    movement,
  );
  await allows(SPENDER, 0n);
  const transition = retry(
    await readSnapshot(bench.db, movement),
    { caller: { client_id: null, key_id: null, role: 'operator' }, request_id: 'a-request' },
    new Map([['allow', '10']]),
  );
  expect(transition?.nodes?.find(({ node_key }) => node_key === 'allow')?.set).toMatchObject({
    amount: '4',
  });
});

test('a retry after a reset allows what was left anew, and nothing else that has completed', async () => {
  const movement = await failed();
  await allows(SPENDER, 0n);
  const requester = {
    caller: { client_id: null, key_id: null, role: 'operator' as const },
    request_id: 'a-request',
  };
  const transition = retry(
    await readSnapshot(bench.db, movement),
    requester,
    await readResetAllowances(bench.db, movement),
  );
  const nodes = transition?.nodes ?? [];
  expect(nodes.map(({ node_key, moves }) => [node_key, moves.at(-1)])).toEqual([
    ['second', 'BLOCKED'],
    ['allow', 'READY'],
  ]);
  expect((await applyTransition(bench.db, transition!)).ok).toBe(true);
  const rows = await bench.sql<object>(
    `SELECT node_key, state, attempt, trim_scale(amount)::text AS amount FROM movement_nodes
      WHERE movement_id = $1::uuid ORDER BY position`,
    movement,
  );
  expect(rows).toEqual([
    { node_key: 'allow', state: 'READY', attempt: 2, amount: '4' },
    { node_key: 'first', state: 'COMPLETED', attempt: 1, amount: '6' },
    { node_key: 'second', state: 'BLOCKED', attempt: 2, amount: '4' },
  ]);
  // Whoever writes it: a burn that has completed is not run again.
  const again = await applyTransition(bench.db, {
    movement_id: movement,
    nodes: [{ node_key: 'first', from: 'COMPLETED', moves: ['READY'], set: { attempt: 2 } }],
    timeline: [],
  });
  expect(again).toMatchObject({ ok: false, reason: 'node_state' });
});
