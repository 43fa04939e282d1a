/** What a fetch of balances stores of a venue's withdrawals, and until when it counts. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchedBalances, PoolBalance } from '../../domain/balances.ts';
import type { WithdrawalOutlook } from '../../domain/withdrawal-outlook.ts';
import { readBalances, refreshBalances } from '../../store/balances.ts';
import { readFigures } from '../../store/metrics.ts';
import { readOutlooks } from '../../store/outlooks.ts';
import { storeBench } from './support.ts';

const bench = storeBench();
const VENUE = 'cex-main';
const STALE_SECONDS = 300;
const OUTLOOK: WithdrawalOutlook = {
  quota: { left: '9000.000000000000000001', unit: 'USD' },
  closed: [
    { asset: 'USDC', network: 'Arbitrum One', opens_at: '2026-12-24T06:00:00.000Z' },
    { asset: 'ETH', network: null, opens_at: null },
  ],
};
const pool = (amount: string): PoolBalance => ({
  account_type: 'SPOT',
  asset: 'USDC',
  available: amount,
  withdrawable: amount,
  total: amount,
  details: null,
});

beforeEach(async () => {
  await bench.sql('DELETE FROM venue_outlooks');
  await bench.sql('DELETE FROM balance_snapshots');
});

const unstored: unknown[] = [];
const stored = (fetch: () => Promise<FetchedBalances>): Promise<void> =>
  refreshBalances(bench.db, VENUE, fetch, (error) => void unstored.push(error));
const refresh = (outlook: WithdrawalOutlook | null, amount = '1'): Promise<void> =>
  stored(() => Promise.resolve({ pools: [pool(amount)], outlook }));
const outlook = async () => (await readOutlooks(bench.db, STALE_SECONDS)).get(VENUE);
const amount = async () =>
  (await readBalances(bench.db, { venue_key: VENUE }, STALE_SECONDS))[0]?.withdrawable;
const now = async (): Promise<number> => {
  const [row] = await bench.sql<{ at: Date }>('SELECT svc_now() AS at');
  return row?.at.getTime() ?? 0;
};
const age = (seconds: number) =>
  bench.sql(
    'UPDATE venue_outlooks SET read_at = svc_now() - make_interval(secs => $1::integer)',
    seconds,
  );

test('a fetch stores it as it is, with the time when the fetch began', async () => {
  const before = await now();
  let during = 0;
  await stored(async () => {
    during = await now();
    return { pools: [], outlook: OUTLOOK };
  });
  const { read_at, ...shown } = (await outlook()) ?? { read_at: '' };
  expect(shown).toEqual(OUTLOOK);
  expect(Date.parse(read_at)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(read_at)).toBeLessThanOrEqual(during);
});

test('a venue that shows no quota has none', async () => {
  await refresh(OUTLOOK);
  await refresh({ quota: null, closed: [] });
  expect(await outlook()).toMatchObject({ quota: null, closed: [] });
});

test('a fetch that could not read it stores balances, and the old one keeps its time', async () => {
  await refresh(OUTLOOK, '1');
  await age(STALE_SECONDS - 60);
  const old = await outlook();
  expect(old).toMatchObject(OUTLOOK);
  await refresh(null, '2');
  expect(await amount()).toBe('2');
  expect(await outlook()).toEqual(old);
});

test('one that cannot be stored does not cost the balances, and the old one stays', async () => {
  await refresh(OUTLOOK, '1');
  const old = await outlook();
  unstored.length = 0;
  await refresh({ quota: { left: '9'.repeat(30), unit: 'USD' }, closed: [] }, '2');
  expect([await amount(), await outlook()]).toEqual(['2', old]);
  expect(unstored).toHaveLength(1);
});

test('a fetch that fails stores neither', async () => {
  await refresh(OUTLOOK, '1');
  const old = await outlook();
  const failing = () => Promise.reject(new Error('silent'));
  await expect(stored(failing)).rejects.toThrow('silent');
  expect([await amount(), await outlook()]).toEqual(['1', old]);
});

test('what began earlier and ends later replaces nothing', async () => {
  // The younger fetch starts and ends while the older one is under way.
  await stored(async () => {
    // Times are compared in milliseconds.
    await sleep(2);
    await refresh(OUTLOOK);
    return { pools: [], outlook: { quota: null, closed: [] } };
  });
  expect(await outlook()).toMatchObject(OUTLOOK);
});

test.each([
  ['young', STALE_SECONDS - 60, true],
  ['too old', STALE_SECONDS + 1, false],
])('one that is %s: %d s', async (_what, seconds, known) => {
  await refresh(OUTLOOK);
  await age(seconds);
  expect((await outlook()) !== undefined).toBe(known);
  const { quotas } = await readFigures(bench.db, STALE_SECONDS);
  const quota = { venue_key: VENUE, unit: 'USD', left: '9000.000000000000000001' };
  expect(quotas).toEqual(known ? [quota] : []);
});

test('the metrics have no figure of a venue that shows none', async () => {
  await refresh({ quota: null, closed: OUTLOOK.closed });
  expect((await readFigures(bench.db, STALE_SECONDS)).quotas).toEqual([]);
});
