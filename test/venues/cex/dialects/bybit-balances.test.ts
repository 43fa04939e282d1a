/** Balances at Bybit: what is in each pool, and what of it may leave. */
import type { BalanceAccountType } from '../../../../venues/cex/dialect.ts';
import { bybit } from '../../../../venues/cex/dialects/bybit/dialect.ts';
import {
  call,
  example,
  faultOf,
  good,
  KEY,
  keyOf,
  resultIn,
  scripted,
  type Answers,
} from './bybit-script.ts';

describe('balances', () => {
  const COINS = 'privateGetV5AssetTransferQueryAccountCoinsBalance';
  const LIMIT = 'privateGetV5AssetWithdrawWithdrawableAmount';
  const WALLET = 'privateGetV5AccountWalletBalance';
  const LEAVING = 'privateGetV5AccountWithdrawal';
  const OVERVIEW = 'privateGetV5AssetAssetOverview';
  const pool = (
    account_type: string,
    asset: string,
    [available, withdrawable, total]: readonly (string | null | undefined)[],
  ): object => ({ account_type, asset, available, withdrawable, total, details: null });
  const read = async (answers: Answers, ...types: readonly BalanceAccountType[]) => {
    const { connection, sent } = scripted({ [KEY]: keyOf(), ...answers });
    return { pools: await bybit.balances(connection, types, call), sent };
  };
  const coin = (name: string, transferBalance: string, walletBalance?: string): object => ({
    ...{ coin: name, transferBalance, bonus: '' },
    walletBalance: walletBalance ?? transferBalance,
  });
  const coinsOf = (...balance: readonly object[]): object =>
    good({ memberId: '533285', accountType: 'FUND', balance });
  const limitOf = (withdrawableAmount: string): object =>
    good({ limitAmountUsd: '0', withdrawableAmount: { FUND: { withdrawableAmount } } });

  test('of the funding account, as documented', async () => {
    const { pools, sent } = await read(
      {
        [COINS]: example('balances, FUND, all coins'),
        [LIMIT]: example('what may be withdrawn'),
      },
      'SPOT',
    );
    expect(pools).toEqual([
      pool('SPOT', 'USDT', ['1010', '1010', '1010']),
      pool('SPOT', 'USDC', ['0', '0', '0']),
    ]);
    expect(sent).toEqual([
      { method: COINS, parameters: { accountType: 'FUND' } },
      { method: KEY, parameters: {} },
      { method: LIMIT, parameters: { coin: 'USDT' } },
    ]);
  });

  test.each([
    // A deposit that is not released counts in the balance, and may not leave.
    ['40.5', '40.5'],
    ['100', '100'],
    ['100.1', '100'],
    ['0', '0'],
    ['', null],
  ])('of which %j may be withdrawn are withdrawable as %j', async (most, withdrawable) => {
    const { pools } = await read(
      { [COINS]: coinsOf(coin('USDT', '100', '120')), [LIMIT]: limitOf(most) },
      'SPOT',
    );
    expect(pools).toEqual([pool('SPOT', 'USDT', ['100', withdrawable, '120'])]);
  });

  test('whose limit Bybit does not show are not withdrawable', async () => {
    const answer = good({ limitAmountUsd: '0', withdrawableAmount: {} });
    const { pools } = await read({ [COINS]: coinsOf(coin('USDT', '1')), [LIMIT]: answer }, 'SPOT');
    expect(pools).toEqual([pool('SPOT', 'USDT', ['1', null, '1'])]);
  });

  test('of a sub-account with its own key have no limit of withdrawals', async () => {
    const answers = { [COINS]: coinsOf(coin('USDT', '1')), [KEY]: keyOf({ isMaster: false }) };
    const { pools, sent } = await read(answers, 'SPOT');
    expect(pools).toEqual([pool('SPOT', 'USDT', ['1', '1', '1'])]);
    expect(sent.map(({ method }) => method)).not.toContain(LIMIT);
  });

  const wallet = (...coins: readonly object[]): object => good({ list: [{ coin: coins }] });
  const leaving = (availableWithdrawalMap: object): object => good({ availableWithdrawalMap });

  test('of the unified account are what may leave it, not what is borrowed', async () => {
    const { pools, sent } = await read(
      {
        [WALLET]: wallet(
          { coin: 'USDT', equity: '12.5', walletBalance: '20' },
          { coin: 'BTC', equity: '-2.5', walletBalance: '1' },
          { coin: 'ETH', equity: '0.1234567890123456789', walletBalance: '0' },
        ),
        [LEAVING]: leaving({ USDT: '10.5', BTC: '0' }),
      },
      'USDT_FUTURE',
    );
    expect(pools).toEqual([
      pool('USDT_FUTURE', 'USDT', ['10.5', '10.5', '12.5']),
      { ...pool('USDT_FUTURE', 'BTC', ['0', '0', '0']), details: { balance: '-2.5' } },
      pool('USDT_FUTURE', 'ETH', [null, null, '0.123456789012345678']),
    ]);
    expect(sent).toEqual([
      { method: WALLET, parameters: { accountType: 'UNIFIED' } },
      { method: LEAVING, parameters: { coinName: 'USDT,BTC,ETH' } },
    ]);
  });

  test('of the unified account, as documented', async () => {
    const { pools } = await read(
      { [WALLET]: example('balances, UNIFIED'), [LEAVING]: example('what may leave UNIFIED') },
      'USDT_FUTURE',
    );
    expect(pools).toEqual([pool('USDT_FUTURE', 'BTC', ['4.5454905', '4.5454905', '0'])]);
  });

  test('of many coins are read by 20, and a name that is not plain is not sent', async () => {
    const names = Array.from({ length: 21 }, (_, index) => `C${String(index)}`);
    const coins = [...names, 'A&coinName=B'].map((name) => ({ coin: name, equity: '1' }));
    const { pools, sent } = await read(
      { [WALLET]: wallet(...coins), [LEAVING]: leaving({}) },
      'USDT_FUTURE',
    );
    expect(pools).toHaveLength(22);
    const lists = sent.flatMap(({ parameters }) => parameters['coinName'] ?? []);
    expect(lists).toEqual([names.slice(0, 20).join(','), 'C20']);
  });

  test("of a sub-account with its master's key, whose coins the overview names", async () => {
    const { connection, sent } = scripted({
      [COINS]: ({ accountType }) =>
        coinsOf(coin(accountType === 'FUND' ? 'USDC' : 'USDT', '3.25', '4')),
      [OVERVIEW]: example("holdings of a sub-account with the master's key"),
    });
    const account = { sub_account: '592334', types: bybit.account_types.sub };
    await expect(bybit.subBalances(connection, account, call)).resolves.toEqual([
      pool('SPOT', 'USDC', ['3.25', '3.25', '4']),
      pool('USDT_FUTURE', 'USDT', ['3.25', '3.25', '4']),
    ]);
    const memberId = '592334';
    expect(sent).toEqual([
      { method: COINS, parameters: { accountType: 'FUND', memberId } },
      { method: OVERVIEW, parameters: { memberId } },
      {
        method: COINS,
        parameters: { accountType: 'UNIFIED', memberId, coin: 'USDT,AED,BTC,ETH' },
      },
    ]);
  });

  test('of a sub-account with more than ten coins take several requests', async () => {
    const coinDetail = Array.from({ length: 11 }, (_, index) => ({ coin: `C${String(index)}` }));
    const { connection, sent } = scripted({
      [COINS]: coinsOf(),
      [OVERVIEW]: good({ list: [{ coinDetail }, { coinDetail: coinDetail.slice(0, 2) }, {}] }),
    });
    const account = { sub_account: '592334', types: ['USDT_FUTURE'] as const };
    await bybit.subBalances(connection, account, call);
    const lists = sent.flatMap(({ parameters }) => String(parameters['coin'] ?? '').split(','));
    expect(lists.filter((each) => each !== '')).toHaveLength(11);
    expect(sent).toHaveLength(3);
  });

  test('of an answer without data are no empty account', async () => {
    for (const answer of [good({}), good(null), { retCode: 0 }, resultIn('time')])
      expect(await faultOf(read({ [COINS]: answer }, 'SPOT'))).toMatchObject({
        kind: 'protocol',
        code: 'CEX_PROTOCOL_ERROR',
      });
  });
});
