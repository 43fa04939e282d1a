/** What holds the master's own movements at the perps venue: pauses, and the clock. */
import pg from 'pg';
import { preflight } from '../../activities/phases/preflight.ts';
import { claimPerpNonce, readPerpAction } from '../../store/perp-actions.ts';
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
import { startStoreBench, waitForLocks, type StoreBench } from './support.ts';

const HOUR_MS = 3_600_000;
let bench: StoreBench;
beforeAll(async () => {
  bench = await startStoreBench();
  await openMaster(bench);
  await bindStrategy(bench, 'with-the-master');
  await bindStrategy(bench, 'apart', { sub: someone('is apart').address.toLowerCase() });
}, 60_000);
afterEach(async () => {
  for (const strategy of ['with-the-master', 'apart']) await pause(bench, strategy, false);
  await bench.sql('DELETE FROM perp_lanes');
});
afterAll(() => bench?.close(), 30_000);

/** What its preflight comes to before any executor is asked: an error code, or its state. */
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

  test('whose repeat is asked for is held by the same pause', async () => {
    const held = async (strategy?: string): Promise<string | null> => {
      const node = await newNode(
        bench,
        'perp_withdraw',
        strategy === undefined ? {} : { strategy },
      );
      const [row] = await bench.sql<{ held: string | null }>(
        'SELECT repeat_held($1::uuid, $2) AS held',
        ...[node.movement_id, node.node_key],
      );
      return row?.held ?? null;
    };
    await pause(bench, 'apart');
    expect(await held()).toBeNull();
    await pause(bench, 'with-the-master');
    expect(await held()).toBe('strategy with-the-master is paused');
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

describe('a nonce', () => {
  const signer = MASTER.address.toLowerCase();
  const lastGiven = (aheadMs: number) =>
    bench.sql(
      `INSERT INTO perp_lanes (address, last_nonce)
       VALUES ($1, floor(extract(epoch FROM svc_now()) * 1000)::bigint + $2::bigint)`,
      ...[signer, aheadMs],
    );

  test('of a clock that was days ahead is given to no payment, and none is used up', async () => {
    await lastGiven(26 * HOUR_MS);
    const [code, node] = await checked('perp_withdraw');
    expect(code).toBe('ACTION_NONCE_AHEAD');
    expect(await readPerpAction(bench.db, node)).toBeNull();
    const [row] = await bench.sql<{ error_message: string }>(
      'SELECT error_message FROM movement_nodes WHERE movement_id = $1::uuid',
      node.movement_id,
    );
    expect(row?.error_message).toMatch(/last nonce is of \d{4}-.*12 hours ahead, and a retry/);
    await bench.sql('DELETE FROM perp_lanes');
    expect((await checked('perp_withdraw'))[0]).toBe('READY');
  });

  test('is never more than half a day ahead of the clock, nor given twice', async () => {
    await lastGiven(11.9 * HOUR_MS);
    const claim = async () => {
      const { movement_id, node_key, attempt } = await newNode(bench, 'perp_withdraw');
      return claimPerpNonce(bench.db, signer, { movement_id, node_key, attempt });
    };
    const given = await Promise.all([claim(), claim(), claim()]);
    const nonces = given.map((one) => ('nonce' in one ? one.nonce : 0)).sort();
    expect(nonces).toEqual([nonces[0], (nonces[0] ?? 0) + 1, (nonces[0] ?? 0) + 2]);
    expect(nonces[0]).toBeGreaterThan(Date.now() + 11 * HOUR_MS);
    await bench.sql('UPDATE perp_lanes SET last_nonce = last_nonce + 600000');
    expect(await claim()).toEqual({ ahead: (nonces[2] ?? 0) + 600_000 });
  });
});
