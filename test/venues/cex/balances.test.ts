import type { PoolBalance } from '../../../domain/balances.ts';
import { createCexBalances } from '../../../venues/cex/balances.ts';
import { call, freshBooks, openDesk, SUB } from './support/desk.ts';
import { started } from '../../support/started.ts';

const desk = started(() => openDesk());

beforeEach(() => freshBooks(desk));

async function fetched(
  index: number,
  changes: object = {},
  subChanges: object = {},
): Promise<readonly PoolBalance[]> {
  const fetcher = createCexBalances(desk.accounts(changes, subChanges))[index]!;
  return (await fetcher.fetch(call())).pools.filter(({ asset }) => asset === 'USDC');
}

const pool = (account_type: string, amount: string) => ({
  account_type,
  asset: 'USDC',
  available: amount,
  withdrawable: amount,
  total: amount,
  details: null,
});

describe('balances', () => {
  test('of a master, in both pools', async () => {
    desk.exchange.books.set(null, 'USDT_FUTURE', 'USDC', '0.123456789012345678');
    expect(await fetched(0)).toEqual([
      pool('SPOT', '1000'),
      pool('USDT_FUTURE', '0.123456789012345678'),
    ]);
  });

  test("of a sub-account, with its master's key", async () => {
    desk.exchange.books.set(SUB, 'SPOT', 'USDC', '7.5');
    expect(await fetched(1)).toEqual([pool('SPOT', '7.5'), pool('USDT_FUTURE', '0')]);
    expect(desk.exchange.requests.map(({ path }) => path)).toEqual([
      '/sapi/v4/sub-account/assets',
      '/sapi/v2/sub-account/futures/account',
    ]);
  });

  test('of a sub-account, with its own key, and only of the requested pools', async () => {
    desk.exchange.books.set(SUB, 'SPOT', 'USDC', '7.5');
    const credentials_file = await desk.keyFile('sub.json', desk.exchange.key(SUB));
    expect(await fetched(1, {}, { credentials_file, account_types: ['SPOT'] })).toEqual([
      pool('SPOT', '7.5'),
    ]);
    expect(desk.exchange.requests.map(({ path }) => path)).toEqual([
      '/api/v3/account',
      '/sapi/v1/capital/config/getall',
    ]);
  });

  test('of the funding wallet are shown, with what is frozen in the total alone', async () => {
    desk.exchange.books.set(null, 'FUNDING', 'USDC', '20.5');
    desk.exchange.books.lock(null, 'FUNDING', 'USDC', '1.5');
    desk.exchange.books.set(SUB, 'FUNDING', 'USDC', '3');
    const funding = { ...pool('FUNDING', '20.5'), total: '22.25' };
    expect(await fetched(0)).toEqual([pool('SPOT', '1000'), pool('USDT_FUTURE', '0'), funding]);
    // The exchange tells it to the account's own key alone.
    expect(await fetched(1)).toEqual([pool('SPOT', '0'), pool('USDT_FUTURE', '0')]);
    const credentials_file = await desk.keyFile('sub.json', desk.exchange.key(SUB));
    expect(await fetched(1, {}, { credentials_file, account_types: ['FUNDING'] })).toMatchObject([
      { account_type: 'FUNDING', available: '3' },
    ]);
  });

  test('of a debt are nothing that could be taken', async () => {
    desk.exchange.books.set(null, 'USDT_FUTURE', 'USDC', '-3.5');
    const [, debt] = await fetched(0);
    expect(debt).toEqual({ ...pool('USDT_FUTURE', '0'), details: { balance: '-3.5' } });
  });

  test.each(['error_500', 'malformed', 'hangup'] as const)(
    'are none at all when one answer is not usable (%s)',
    async (kind) => {
      desk.exchange.fail({ path: 'fapi/', kind });
      await expect(fetched(0)).rejects.toMatchObject({ name: 'ExecutorFault' });
    },
  );

  test('as a JSON number are refused: digits may be lost already', async () => {
    desk.exchange.fail({
      path: '/api/v3/account',
      kind: 'status',
      status: 200,
      body: { balances: [{ asset: 'USDC', free: 0.1, locked: '0' }] },
    });
    await expect(fetched(0)).rejects.toMatchObject({ code: 'CEX_PROTOCOL_ERROR' });
  });
});
