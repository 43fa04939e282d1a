/** What holds the master's own movements at the perps venue: pauses, and the clock. */
import pg from 'pg';
import { preflight } from '../../activities/phases/preflight.ts';
import { claimPerpNonce, readPerpAction } from '../../store/perp-actions.ts';
import { createAgentWallet, noteAgentWallet, takeAgentWallets } from '../../store/perp-venue.ts';
import { someone } from '../dev/perp-stack.ts';
import {
  MASTER,
  bindStrategy,
  fenced,
  newNode,
  openMaster,
  pause,
  prepared,
  standing,
  workerOf,
  type PerpNode,
} from './perp-desk.ts';
import { waitForLocks, storeBench } from './support.ts';

const HOUR_MS = 3_600_000;
const bench = storeBench();
beforeAll(async () => {
  await openMaster(bench);
  await bindStrategy(bench, 'with-the-master');
  await bindStrategy(bench, 'apart', { sub: someone('is apart').address.toLowerCase() });
});
afterEach(async () => {
  for (const strategy of ['with-the-master', 'apart']) await pause(bench, strategy, false);
  await bench.sql('DELETE FROM perp_lanes');
});

/** What its preflight comes to before any executor is called: an error code, or its state. */
async function checked(action: string, strategy?: string): Promise<[string, PerpNode]> {
  const node = await newNode(bench, action, strategy === undefined ? {} : { strategy });
  await preflight.begin(workerOf(bench), node);
  return [await standing(bench, node), node];
}

describe('a movement without a strategy', () => {
  test.each(['perp_deposit', 'perp_withdraw'])(
    'does not move by %s what a paused strategy works with',
    async (action) => {
      const amount = action === 'perp_deposit' ? '71' : '11';
      const before = await prepared(bench, action, { amount });
      await pause(bench, 'apart');
      expect((await checked(action))[0]).toBe('READY');
      expect(await fenced(bench, await prepared(bench, action, { amount: `${amount}.5` }))).toBe(
        'SUBMITTING',
      );
      await pause(bench, 'with-the-master');
      const [code, node] = await checked(action);
      expect(code).toBe('STRATEGY_PAUSED');
      const [row] = await bench.sql<{ error_message: string }>(
        'SELECT error_message FROM movement_nodes WHERE movement_id = $1::uuid',
        node.movement_id,
      );
      expect(row?.error_message).toContain('strategy with-the-master is paused');
      expect(await fenced(bench, before)).toBe('STRATEGY_PAUSED');
    },
  );

  test('whose repeat is requested is held by the same pause', async () => {
    const held = async (strategy?: string): Promise<string | null> => {
      const node = await newNode(
        bench,
        'perp_withdraw',
        strategy === undefined ? {} : { strategy },
      );
      const [row] = await bench.sql<{ held: string | null }>(
        `SELECT send_stops($1::uuid, $2, jsonb_build_object('requirements',
           jsonb_build_object('perp', jsonb_build_object('signer',
             (SELECT master_address FROM perp_master))))) #>> '{0,why}' AS held`,
        node.movement_id,
        node.node_key,
      );
      return row?.held ?? null;
    };
    await pause(bench, 'apart');
    expect(await held()).toBeNull();
    await pause(bench, 'with-the-master');
    expect(await held()).toBe('perp with-the-master: STRATEGY_PAUSED');
    await pause(bench, 'apart', false);
    // One that has a name is held by its own pause alone.
    expect(await held('apart')).toBeNull();
  });

  test('that reaches its fence while it is paused waits for the pause, and stops', async () => {
    const node = await prepared(bench, 'perp_withdraw');
    const other = new pg.Client({ connectionString: bench.url });
    await other.connect();
    await other.query('BEGIN');
    await other.query(
      "UPDATE perp_bindings SET paused = true WHERE strategy_id = 'with-the-master'",
    );
    const fence = fenced(bench, node);
    await waitForLocks(bench, 1);
    await other.query('COMMIT');
    await other.end();
    expect(await fence).toBe('STRATEGY_PAUSED');
  });
});

/** Prepared when the master's account had 20, of which the strategy `capped` may have 100. */
async function deposit(amount: string, strategy: string | null = 'capped'): Promise<PerpNode> {
  const node = await prepared(bench, 'perp_deposit', {
    amount,
    ...(strategy === null ? {} : { strategy }),
  });
  await bench.sql(
    `UPDATE movement_nodes SET prepared_action = prepared_action || jsonb_build_object(
       'account_value', '20', 'prepared_ms', floor(extract(epoch FROM svc_now()) * 1000))
     WHERE movement_id = $1::uuid`,
    node.movement_id,
  );
  return node;
}

/** What tests left under way is under way into the same account. */
const endDeposits = () =>
  bench.sql("UPDATE movement_nodes SET state = 'FAILED' WHERE action_type = 'perp_deposit'");

describe('deposits of a strategy that works with the master and may not have any amount', () => {
  const set = ({ movement_id }: PerpNode, to: string) =>
    bench.sql(
      `UPDATE movement_nodes SET state = $2, completed_at = svc_now()
       WHERE movement_id = $1::uuid`,
      movement_id,
      to,
    );

  test('bring no more than that together, with what has arrived since it was read', async () => {
    await endDeposits();
    await bench.sql(
      `INSERT INTO perp_bindings (strategy_id, max_agent_balance, created_at, updated_at)
       VALUES ('capped', 100, svc_now(), svc_now())`,
    );
    const [first, second, third] = [
      await deposit('50'),
      await deposit('30.5'),
      await deposit('30'),
    ];
    expect(await fenced(bench, first)).toBe('SUBMITTING');
    expect(await fenced(bench, second)).toBe('MAX_AGENT_BALANCE_EXCEEDED');
    await set(first, 'COMPLETED');
    const late = await prepared(bench, 'perp_deposit', { amount: '30.25', strategy: 'capped' });
    await bench.sql(
      `UPDATE movement_nodes SET prepared_action = (SELECT prepared_action FROM movement_nodes
         WHERE movement_id = $2::uuid) WHERE movement_id = $1::uuid`,
      late.movement_id,
      third.movement_id,
    );
    expect(await fenced(bench, late)).toBe('MAX_AGENT_BALANCE_EXCEEDED');
    expect(await fenced(bench, third)).toBe('SUBMITTING');
    await set(third, 'COMPLETED');
    // From now on the account shows what has arrived: here as if others had taken it out.
    expect(await fenced(bench, await deposit('79'))).toBe('SUBMITTING');
  });

  test('that ask at once pass one at a time', async () => {
    await endDeposits();
    const nodes = await Promise.all(['41', '42', '43', '44'].map((amount) => deposit(amount)));
    const came = await Promise.all(nodes.map((node) => fenced(bench, node)));
    expect(came.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'MAX_AGENT_BALANCE_EXCEEDED'),
      'SUBMITTING',
    ]);
  });
});

describe('a deposit of somebody else into the account that a bounded strategy works with', () => {
  const open = async (amount: string, strategy: string | null): Promise<string> => {
    await endDeposits();
    return fenced(bench, await deposit(amount, strategy));
  };

  test.each([null, 'with-the-master', 'apart'])(
    'counts against its bound (%s)',
    async (strategy) => {
      expect(await open('80.01', strategy)).toBe('MAX_AGENT_BALANCE_EXCEEDED');
      expect(await open('80', strategy)).toBe('SUBMITTING');
    },
  );

  test('goes by the least of the bounds, and names whose it is', async () => {
    await bench.sql(
      `INSERT INTO perp_bindings (strategy_id, max_agent_balance, created_at, updated_at)
       VALUES ('tighter', 50, svc_now(), svc_now())`,
    );
    expect(await open('30.01', 'capped')).toBe('MAX_AGENT_BALANCE_EXCEEDED');
    const [row] = await bench.sql<{ error_message: string }>(
      `SELECT error_message FROM movement_nodes WHERE error_code = 'MAX_AGENT_BALANCE_EXCEEDED'
       ORDER BY updated_at DESC LIMIT 1`,
    );
    expect(row?.error_message).toContain('strategy tighter');
    expect(await open('30', null)).toBe('SUBMITTING');
    await bench.sql("DELETE FROM perp_bindings WHERE strategy_id = 'tighter'");
  });

  test('that was prepared before there was a bound is prepared anew', async () => {
    await endDeposits();
    const node = await prepared(bench, 'perp_deposit', { amount: '1' });
    expect(await fenced(bench, node)).toBe('MAX_AGENT_BALANCE_EXCEEDED');
  });
});

describe('a nonce', () => {
  const signer = MASTER.address.toLowerCase();
  const lastNonce = (aheadMs: number) =>
    bench.sql(
      `INSERT INTO perp_lanes (address, last_nonce)
       VALUES ($1, floor(extract(epoch FROM svc_now()) * 1000)::bigint + $2::bigint)`,
      signer,
      aheadMs,
    );

  test('of a clock that was days ahead goes to no payment, and none is used up', async () => {
    await lastNonce(26 * HOUR_MS);
    const [code, node] = await checked('perp_withdraw');
    expect(code).toBe('ACTION_NONCE_AHEAD');
    expect(await readPerpAction(bench.db, node)).toBeNull();
    const [row] = await bench.sql<{ error_message: string }>(
      'SELECT error_message FROM movement_nodes WHERE movement_id = $1::uuid',
      node.movement_id,
    );
    expect(row?.error_message).toMatch(/is at \d{4}-.*; retry the node once .*12 hours ahead/);
    await bench.sql('DELETE FROM perp_lanes');
    expect((await checked('perp_withdraw'))[0]).toBe('READY');
  });

  test('is never more than half a day ahead of the clock, nor assigned twice', async () => {
    await lastNonce(11.9 * HOUR_MS);
    const claim = async () => {
      const { movement_id, node_key, attempt } = await newNode(bench, 'perp_withdraw');
      return claimPerpNonce(bench.db, signer, { movement_id, node_key, attempt });
    };
    const claimed = await Promise.all([claim(), claim(), claim()]);
    const nonces = claimed.map((one) => ('nonce' in one ? one.nonce : 0)).sort();
    expect(nonces).toEqual([nonces[0], (nonces[0] ?? 0) + 1, (nonces[0] ?? 0) + 2]);
    expect(nonces[0]).toBeGreaterThan(Date.now() + 11 * HOUR_MS);
    await bench.sql('UPDATE perp_lanes SET last_nonce = last_nonce + 600000');
    expect(await claim()).toEqual({ ahead: (nonces[2] ?? 0) + 600_000 });
  });
});

test('who holds an agent, and no one before, sets when it is checked again', async () => {
  await createAgentWallet(
    bench.db,
    {
      strategy_id: 'apart',
      agent_name: 'desk',
      signer_key: 'agent',
      valid_until: null,
      address: someone('is an agent').address,
    },
    {
      actor: 'test',
      action: 'perp_agent_wallet.create',
      entity_type: 'perp_agent_wallet',
      entity_key: 'apart/desk',
      outcome: 'success',
      details: {},
    } as never,
  );
  const [first] = await takeAgentWallets(bench.db, 0.01, 1);
  let second: typeof first;
  while (second === undefined) [second] = await takeAgentWallets(bench.db, 60, 1);
  const note = (taken: typeof first, last_error: string) =>
    noteAgentWallet(bench.db, {
      wallet_id: taken?.wallet_id ?? '',
      lease: taken?.lease ?? '',
      from: 'pending',
      to: null,
      last_error,
      next_seconds: 0,
    });
  expect(await note(first, 'late')).toBe(false);
  expect(await takeAgentWallets(bench.db, 60, 1)).toEqual([]);
  expect(await note(second, 'not listed')).toBe(true);
  expect(await takeAgentWallets(bench.db, 60, 1)).toMatchObject([{ last_error: 'not listed' }]);
});
