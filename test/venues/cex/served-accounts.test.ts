/**
 * What both venues files must say the same of an account whose keys are in another process, and how
 * long that process may fetch its balances.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../../../activities/call.ts';
import { deadlineOf } from '../../../domain/send/window.ts';
import { serveRoutes } from '../../../executor-kit/http.ts';
import { momentNow } from '../../../platform/deadline.ts';
import type { CexAccounts } from '../../../venues/cex/accounts.ts';
import { createCexBalances } from '../../../venues/cex/balances.ts';
import { servedRoutes } from '../../../venues/cex/served/server.ts';
import { faultOf, remoteAccounts, startAparts, type ApartOptions } from './support/apart.ts';
import { call, configOf, withdrawal } from './support/desk.ts';
import { binance } from './support/formats/binance.ts';

const aparts = startAparts([binance]);

const ELSEWHERE = { account: 'elsewhere@example.com' };

test.each<[string, string, ApartOptions]>([
  ['name', 'cex-main', { changes: ELSEWHERE }],
  ['exclusive', 'cex-main', { changes: { exclusive: false } }],
  ['withdrawal_whitelist', 'cex-main', { changes: { withdrawal_whitelist: false } }],
  ["master's name", 'cex-sub', { changes: ELSEWHERE }],
  ['exclusive', 'cex-sub', { subChanges: { exclusive: true } }],
])('an account of another %s at the process is refused: %s', async (_, venue, options) => {
  const world = await aparts.open('binance', options);
  const node = withdrawal({ ...configOf(binance), venue });
  const preflight = world.executorOf('cex_withdrawal').preflight(node, call());
  expect(await faultOf(preflight)).toMatchObject({ kind: 'rejected', code: 'VENUE_MISMATCH' });
  const [fetcher] = createCexBalances(world.accounts).filter((each) => each.venue_key === venue);
  expect((await faultOf(Promise.resolve(fetcher?.fetch(call())))).code).toBe('VENUE_MISMATCH');
  expect(world.desk.exchange.requests).toEqual([]);
});

/** The accounts, whose pools come after a second, and whose outlook never comes. */
function withSlowOutlook(accounts: CexAccounts): CexAccounts {
  const slow = accounts.list().map((account) => ({
    ...account,
    dialect: {
      ...account.dialect,
      balances: async (...args: Parameters<typeof account.dialect.balances>) => {
        await sleep(1_000);
        return account.dialect.balances(...args);
      },
      outlook: (...[, , { signal }]: Parameters<NonNullable<typeof account.dialect.outlook>>) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    },
  }));
  return { ...accounts, list: () => slow };
}

test('a slow outlook costs no pools: the process ends its fetch before the service does', async () => {
  const world = await aparts.open('binance');
  const routes = servedRoutes(withSlowOutlook(world.keyed), () => undefined);
  const authTokenFile = join(world.desk.folder, 'process.token');
  const served = await serveRoutes(routes, { port: 0, authTokenFile, graceMs: 100 });
  const accounts = await remoteAccounts(world.desk, served.url);
  aparts.onClose(async () => {
    await accounts.close();
    await served.stop();
  });
  const [fetcher] = createCexBalances(accounts);
  // The service waits for 10 s, of which this leaves 3.
  const until = deadlineOf(momentNow(), 3);
  const fetched = await withDeadline(call(), until, async (limited) => fetcher?.fetch(limited));
  expect(fetched?.outlook).toBeNull();
  expect(fetched?.pools.find(({ asset }) => asset === 'USDC')?.withdrawable).toBe('1000');
});
