/**
 * Balances of the paper venue through HTTP, and what is held against them. The account is one that
 * no other test spends from.
 */
import { createPublicClient, formatEther, http } from 'viem';
import {
  act,
  alone,
  approval,
  approve,
  create,
  edge,
  expectInvalid,
  expectRefusal,
  gate,
  get,
  must,
  noop,
  post,
  reaches,
  registered,
  run,
  sendAs,
  shared,
  sql,
  transfer,
  waitFor,
  withdrawal,
} from '../support/http.ts';
import { subtract } from '../../domain/money.ts';
import { fund } from '../support/paying-signer.ts';
import { tool } from '../support/tool.ts';

interface BalanceView {
  readonly venue_key: string;
  readonly asset: string;
  readonly account_type: string;
  readonly withdrawable: string;
  readonly fetched_at: string;
  readonly stale: boolean;
  readonly svc_pending_outflow: string;
  readonly svc_effective_withdrawable: string;
  readonly svc_effective_reason: string | null;
}
// What it holds is compared with before.
alone('the treasury wallet');

const CLOSED = { asset: 'USDC', network: 'ERC20', opens_at: '2026-12-24T06:00:00.000Z' };
const ACCOUNT = 'paper-sub-b';
/** Only this file pays from it. */
const TREASURY = 'local-chain:dev-treasury';
const SIGNERS = ['test-guarded', 'test-purse', 'test-wallet'].map(
  (signer) => `local-chain:${signer}`,
);
const OTHERS = ['paper-main', 'paper-second-main', 'paper-sub-a', 'perp'];
const VENUES = [...OTHERS, ACCOUNT, TREASURY, ...SIGNERS];
const read = async (query: string): Promise<readonly BalanceView[]> =>
  (await must(200, get<{ balances: readonly BalanceView[] }>(`/balances?${query}`))).balances;
const pool = async (more = ''): Promise<BalanceView> => {
  const [only, ...others] = await read(`venue_key=${ACCOUNT}&asset=USDC&account_type=SPOT${more}`);
  expect(others).toEqual([]);
  if (only === undefined) throw new Error('there is no such balance');
  return only;
};

test('a worker fetches every bound account by itself, and anybody may read them', async () => {
  const all = await waitFor(async () => {
    const found = await read('');
    return new Set(found.map(({ venue_key }) => venue_key)).size === VENUES.length ? found : null;
  });
  expect(new Set(all.map(({ venue_key }) => venue_key))).toEqual(new Set(VENUES));
  expect(all.every(({ stale }) => !stale)).toBe(true);
  expect(await sendAs(shared.keys.agent, 'GET', `/balances?venue_key=${ACCOUNT}`)).toMatchObject({
    status: 200,
  });
  expect(await pool()).toMatchObject({
    withdrawable: '1000000',
    svc_effective_withdrawable: '1000000',
    svc_effective_reason: null,
  });
});

test('filters are normalised, what is not there is an empty list, and what is no filter is refused', async () => {
  expect(await read(`venue_key=${ACCOUNT}&asset=usdc&account_type=%20spot%20`)).toHaveLength(1);
  expect(await read('venue_key=nowhere')).toEqual([]);
  expect(await read('venue_key=nowhere&fresh=true')).toEqual([]);
  expectInvalid(await get('/balances?fresh=perhaps'), 'fresh');
  for (const nothing of ['', '%20', '%E2%80%8B', '%EF%BB%BF', 'SP%C2%A0OT']) {
    expectInvalid(await get(`/balances?account_type=${nothing}`), 'account_type');
  }
  expectInvalid(await get('/balances?asset='), 'asset');
  expectInvalid(await get('/balances?currency=USDC'), 'currency');
});

test('what a signer has on a chain: the own coin and the listed tokens, in one pool of its own', async () => {
  const before = new Map(
    (await read(`venue_key=${TREASURY}&fresh=true`)).map((each) => [each.asset, each]),
  );
  expect([...before.keys()]).toEqual(['ETH', 'USDC', 'USDT']);
  for (const each of before.values())
    expect(each).toMatchObject({ account_type: 'SPOT', stale: false, svc_pending_outflow: '0' });
  const { address } = shared.chain.accounts.signer;
  const chain = createPublicClient({ transport: http(shared.chain.rpcUrl) });
  const coins = formatEther(await chain.getBalance({ address }));
  expect(Number(coins)).toBeGreaterThan(9_999);
  expect(before.get('ETH')).toMatchObject({
    withdrawable: coins,
    svc_effective_withdrawable: coins,
  });

  const node = withdrawal('in', {
    config: { venue: 'paper-main', asset: 'USDC', network: 'local', destination_address: address },
  });
  await run(await registered([node]), 'COMPLETED', {
    intent: { asset: 'USDC', amount: '12.345678' },
  });
  const after = await waitFor(async () => {
    const [usdc] = await read(`venue_key=${TREASURY}&asset=USDC&fresh=true`);
    return usdc?.withdrawable === before.get('USDC')?.withdrawable ? null : usdc;
  });
  expect(subtract(after.withdrawable, before.get('USDC')?.withdrawable ?? '')).toBe('12.345678');
});

test('an approved outflow is taken off until a snapshot from after it shows it', async () => {
  const before = await pool('&fresh=true');
  const node = withdrawal('out', {
    config: {
      venue: ACCOUNT,
      asset: 'USDC',
      network: 'local',
      destination_address: shared.chain.accounts.treasury.address,
    },
  });
  const plan = await registered([gate('check'), node]);
  const movement = await create(plan, { intent: { asset: 'USDC', amount: '1250.5' } });
  expect(await pool()).toMatchObject({ svc_pending_outflow: '0' });
  await approve(movement);
  const held = {
    svc_pending_outflow: '1250.5',
    svc_effective_withdrawable: '998749.5',
    svc_effective_reason: 'movement_reservation',
  };
  expect(await pool('&fresh=true')).toMatchObject({ ...held, withdrawable: before.withdrawable });
  expect(JSON.parse((await tool(['reservations', 'verify'])).out)).toMatchObject({ ok: true });

  await reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  await must(200, post(`/movements/${movement.movement_id}/actions/resume`));
  await reaches(movement.movement_id, 'COMPLETED');
  // As if nothing had been fetched since the outflow: the snapshot cannot know of it.
  await sql(
    `UPDATE balance_snapshots SET fetched_at = $2, withdrawable = 1000000 WHERE venue_key = $1`,
    [ACCOUNT, before.fetched_at],
  );
  expect(await pool()).toMatchObject(held);
  // A venue is read at most once a second, so this may still be the earlier answer.
  const after = await waitFor(async () => {
    const now = await pool('&fresh=true');
    return now.withdrawable === '998749.5' ? now : null;
  });
  expect(after).toMatchObject({
    withdrawable: '998749.5',
    svc_pending_outflow: '0',
    svc_effective_withdrawable: '998749.5',
  });
  expect(after.svc_effective_reason).toBeNull();
});

test('what arrived after the last fetch is no reason to refuse an approval', async () => {
  const usdc = async (): Promise<BalanceView | undefined> =>
    (await read(`venue_key=${TREASURY}&asset=USDC&fresh=true`))[0];
  const pay = transfer('pay', { signer_selector: { chain_family: 'evm', profile: 'treasury' } });
  const plan = await registered(
    [gate('check'), pay, noop('undone', { node_kind: 'compensation' })],
    { edges: [edge('check', 'pay'), edge('pay', 'undone', 'on_cancel')] },
  );
  const seen = await usdc();
  const amount = subtract(seen?.withdrawable ?? '', '-500');
  const movement = await create(plan, { intent: { asset: 'USDC', amount } });
  await waitFor(async () => ((await usdc())?.fetched_at === seen?.fetched_at ? null : true));
  await fund(shared.chain, shared.chain.accounts.signer.address);
  await approve(movement);
  await must(200, act(movement.movement_id, 'cancel'));
});

test('an amount that was held and never sent is free again at once', async () => {
  const node = withdrawal('out', {
    config: {
      venue: ACCOUNT,
      asset: 'USDT',
      network: 'local',
      destination_address: shared.chain.accounts.treasury.address,
    },
  });
  const plan = await registered(
    [gate('check'), node, noop('undone', { node_kind: 'compensation' })],
    {
      edges: [
        { from: 'check', to: 'out', edge_type: 'on_success' },
        { from: 'out', to: 'undone', edge_type: 'on_cancel' },
      ],
    },
  );
  const movement = await create(plan, { intent: { asset: 'USDT', amount: '77' } });
  const usdt = async (): Promise<string | undefined> =>
    (await read(`venue_key=${ACCOUNT}&asset=USDT`))[0]?.svc_pending_outflow;
  await approve(movement);
  expect(await usdt()).toBe('77');
  await must(200, post(`/movements/${movement.movement_id}/actions/cancel`));
  expect(await usdt()).toBe('0');
});

test('an older fetch never replaces a younger one, and an asset that is gone is there with zero', async () => {
  const venue = 'made-up-venue';
  const rows = (amount: string) =>
    JSON.stringify([
      {
        account_type: 'SPOT',
        asset: 'USDC',
        available: amount,
        withdrawable: amount,
        total: amount,
        details: null,
      },
    ]);
  const store = (at: string, text: string): Promise<unknown> =>
    sql('SELECT store_balances($1, $2::timestamptz, $3::jsonb)', [venue, at, text]);
  await store('2026-11-21T10:00:01Z', rows('2'));
  await store('2026-11-21T10:00:00Z', rows('1'));
  expect(await read(`venue_key=${venue}`)).toMatchObject([{ withdrawable: '2', stale: true }]);
  await store('2026-11-21T10:00:02Z', '[]');
  expect(await read(`venue_key=${venue}`)).toMatchObject([
    { withdrawable: '0', fetched_at: '2026-11-21T10:00:02.000Z' },
  ]);
});

test('beside them stands what their venue showed of its withdrawals, while that is not too old', async () => {
  const venue = 'made-up-outlook';
  const pool = { account_type: 'SPOT', asset: 'USDC', available: '1', withdrawable: '1' };
  await sql('SELECT store_balances($1, svc_now(), $2::jsonb)', [venue, JSON.stringify([pool])]);
  const shown = async (): Promise<unknown> =>
    (await must(200, get<{ venues: unknown }>(`/balances?venue_key=${venue}`))).venues;
  const store = (at: string, quota: object | null): Promise<unknown> => {
    const outlook = JSON.stringify({ quota, closed: [CLOSED] });
    const time = 'svc_now() + $2::interval';
    return sql(`SELECT store_outlook($1, ${time}, $3::jsonb)`, [venue, at, outlook]);
  };
  expect(await shown()).toEqual([{ venue_key: venue, withdrawals: null }]);
  await store('0 hours', { left: '9000.50', unit: 'USD' });
  const young = [
    {
      venue_key: venue,
      withdrawals: {
        quota: { left: '9000.5', unit: 'USD' },
        closed: [CLOSED],
        read_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    },
  ];
  expect(await shown()).toEqual(young);
  await store('-1 hour', null);
  expect(await shown()).toEqual(young);
  const older = `read_at = read_at - interval '3 days'`;
  await sql(`UPDATE venue_outlooks SET ${older} WHERE venue_key = $1`, [venue]);
  expect(await shown()).toEqual([{ venue_key: venue, withdrawals: null }]);
  expect(await must(200, get('/balances?venue_key=nowhere'))).toEqual({ balances: [], venues: [] });
});

test('what is not there cannot be promised: holds beside each other never exceed the balance', async () => {
  const venue = 'paper-sub-b';
  const node = withdrawal('out', {
    config: {
      venue,
      asset: 'USDT',
      network: 'local',
      destination_address: shared.chain.accounts.treasury.address,
    },
  });
  const plan = await registered(
    [gate('check'), node, noop('undone', { node_kind: 'compensation' })],
    {
      edges: [
        { from: 'check', to: 'out', edge_type: 'on_success' },
        { from: 'out', to: 'undone', edge_type: 'on_cancel' },
      ],
    },
  );
  const movements = await Promise.all(
    Array.from({ length: 8 }, () => create(plan, { intent: { asset: 'USDT', amount: '250000' } })),
  );
  // Too old to tell anything: the first approval asks the venue itself.
  await sql(`UPDATE balance_snapshots SET fetched_at = '2026-01-01' WHERE venue_key = $1`, [venue]);
  const answers = await Promise.all(
    movements.map((each) => act(each.movement_id, 'approve', approval(each))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([
    200, 200, 200, 200, 409, 409, 409, 409,
  ]);
  const refused = answers.find(({ status }) => status === 409);
  expectRefusal(refused!, 409, 'insufficient_effective_withdrawable', {
    reason: 'insufficient',
    venue_key: venue,
    account_type: 'SPOT',
    asset: 'USDT',
    amount: '250000',
    effective_withdrawable: '0',
  });
  const [usdt] = await read(`venue_key=${venue}&asset=USDT`);
  expect(usdt).toMatchObject({ svc_pending_outflow: '1000000', svc_effective_withdrawable: '0' });
  expect(JSON.parse((await tool(['reservations', 'verify'])).out)).toMatchObject({ ok: true });
  for (const [index, { status }] of answers.entries())
    if (status === 200) await must(200, act(movements[index]?.movement_id ?? '', 'cancel'));
  // What was refused can be approved now.
  const late = movements[answers.findIndex(({ status }) => status === 409)]!;
  await approve(late);
  await must(200, act(late.movement_id, 'cancel'));
});

test('a pool its venue does not name is empty; a venue without reader is not called', async () => {
  const of = (venue: string) =>
    registered([
      gate('check'),
      withdrawal('out', {
        config: {
          venue,
          asset: 'NONE',
          network: 'local',
          destination_address: shared.chain.accounts.treasury.address,
        },
      }),
    ]);
  const empty = await create(await of('paper-sub-b'), { intent: { asset: 'NONE', amount: '1' } });
  expect(await act(empty.movement_id, 'approve', approval(empty))).toMatchObject({ status: 409 });
  const unknown = await create(await of('some-other-venue'), {
    intent: { asset: 'NONE', amount: '1' },
  });
  await approve(unknown);
});

test('what the master has on the perps venue is a pool of its own, in which amounts stay exact', async () => {
  const { url, account } = shared.perp;
  const of = async (): Promise<BalanceView> => {
    const [only, ...more] = await read('venue_key=perp&asset=USDC&account_type=PERP&fresh=true');
    expect(more).toEqual([]);
    if (only === undefined) throw new Error('there is no such balance');
    return only;
  };
  const before = await of();
  const funded = await fetch(`${url}/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address: account, perp: '1000000.000001' }),
  });
  expect(funded.status).toBe(200);
  // A look that is a moment old is fresh enough, so the next one shows it.
  const after = await waitFor(async () => {
    const now = await of();
    return now.fetched_at === before.fetched_at ? null : now;
  });
  expect(subtract(after.withdrawable, before.withdrawable)).toBe('1000000.000001');
  expect(after.svc_effective_withdrawable).toBe(after.withdrawable);
  expect(after.stale).toBe(false);
});
