/** Top-ups of strategies at the perps venue: how much, how often, and for whom. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { low } from '../dev/perp-stack.ts';
import { waitForLocks } from '../store/support.ts';
import { at, startPerpDesk, type DeskOptions } from '../support/perp-desk.ts';
import { started } from '../support/started.ts';

const desk = started(() => startPerpDesk('perp-master'));
beforeAll(async () => {
  await made(200, '/perp-venue/master-account', {
    master_address: desk.master.account.address,
    signer_key: 'perp-master',
    network: 'testnet',
  });
});

async function made(status: number, path: string, body: object): Promise<void> {
  const answer = await desk.call('POST', path, body);
  if (answer.status !== status) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
}

/** A strategy with a sub-account of its own and an active agent; the sub-account's address. */
async function strategy(name: string, max_agent_balance: string | null): Promise<string> {
  const sub = await desk.perp.sub(low(desk.master.account.address), name);
  await made(200, '/perp-venue/strategy-bindings', {
    strategy_id: name,
    sub_account_address: sub,
    max_agent_balance,
  });
  desk.signer(`${name}-agent`);
  const agent = { agent_name: name, signer_key: `${name}-agent` };
  await made(200, at(name, '/agent-wallets'), agent);
  await desk.bench.sql(
    `UPDATE perp_agent_wallets SET state = 'active', approved_at = svc_now() WHERE agent_name = $1`,
    name,
  );
  return sub;
}

const topUp = (
  name: string,
  amount: string,
  key: string = randomUUID(),
  options: DeskOptions = {},
) =>
  desk.call(
    'POST',
    at(name, `/agent-wallets/${name}/top-up`),
    { asset: 'usdc', amount, reason: 'more margin', idempotency_key: key },
    options,
  );

test('of many at once there are no more than the strategy may have, with what it has', async () => {
  const sub = await strategy('capped', '100');
  await desk.perp.fund(low(sub), { perp: '9' });
  const answers = await Promise.all(Array.from({ length: 10 }, () => topUp('capped', '30')));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  const refused = answers.find(({ status }) => status !== 200);
  expect([refused?.status, refused?.body.detail]).toEqual([
    409,
    expect.objectContaining({ error: 'max_agent_balance_exceeded', max_agent_balance: '100' }),
  ]);
  expect((await topUp('capped', '1.000001')).status).toBe(409);
  expect((await topUp('capped', '1')).status).toBe(200);
});

test('one that is made while another is written waits, and counts it', async () => {
  await strategy('queued', '100');
  const other = new pg.Client({ connectionString: desk.bench.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query(`SELECT FROM perp_bindings WHERE strategy_id = 'queued' FOR UPDATE`);
    const both = [topUp('queued', '60'), topUp('queued', '60')];
    await waitForLocks(desk.bench, 2);
    await other.query('ROLLBACK');
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  } finally {
    await other.end();
  }
});

test('one that ends while the balance of the venue is read still counts', async () => {
  await strategy('ends', '100');
  const first = await topUp('ends', '60');
  await desk.perp.faults({ latency_ms: 1_500, calls: ['info'] });
  const second = topUp('ends', '60');
  await new Promise((resolve) => setTimeout(resolve, 700));
  await desk.bench.sql(
    'UPDATE movements SET ended_at = svc_now() WHERE movement_id = $1::uuid',
    first.body['movement_id'],
  );
  expect((await second).body.detail.error).toBe('max_agent_balance_exceeded');
  await desk.perp.faults({});
  expect((await topUp('ends', '60')).status).toBe(200);
});

test('an equal repeat is the first one, also of many at once, and changes no sum', async () => {
  await strategy('repeated', '50');
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => topUp('repeated', '50', 'one')),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const ids = answers.map(({ body }) => (body as unknown as { movement_id: string }).movement_id);
  expect(new Set(ids).size).toBe(1);
  expect((await topUp('repeated', '0.000001')).status).toBe(409);
});

test('a plan pays the sub-account of its strategy alone, and waits for a person', async () => {
  const subs = [await strategy('first', null), await strategy('second', null)];
  for (const [index, name] of ['first', 'second'].entries()) {
    const { status, body } = await topUp(name, '7');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ request_state: 'PENDING_APPROVAL', auto_approve_result: null }),
    ]);
    const { movement_id } = body as unknown as { movement_id: string };
    const [row] = await desk.bench.sql<{ plan: { nodes: { config: object }[] }; by: string }>(
      `SELECT compiled_plan_of(movement_id) AS plan, strategy_id AS by FROM movements
       WHERE movement_id = $1::uuid`,
      movement_id,
    );
    expect(row?.by).toBe(name);
    const configs = row?.plan.nodes.map(({ config }) => config as Record<string, string>) ?? [];
    expect(configs.map((config) => config['sub_account_address']?.toLowerCase())).toEqual([
      subs[index]?.toLowerCase(),
    ]);
  }
});

test('the master’s signer signs it, also beside others of its chains and profile', async () => {
  await strategy('shared', null);
  const others = [desk.signer('another')];
  const { status, body } = await topUp('shared', '7', randomUUID(), { others });
  expect(status).toBe(200);
  const nodes = await desk.bench.sql(
    'SELECT signer_binding FROM movement_nodes WHERE movement_id = $1::uuid',
    (body as unknown as { movement_id: string }).movement_id,
  );
  expect(nodes).toEqual([{ signer_binding: { signer_key: 'perp-master' } }]);
});
