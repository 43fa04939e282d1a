/**
 * Reads balances at Bybit: `SPOT` is the funding account, `USDT_FUTURE` the unified trading account
 * (docs/bybit-facts.md, 3).
 */
import type { PoolBalance } from '../../../../domain/balances.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { compare, isPositive } from '../../../../domain/money.ts';
import { ask } from '../../answers.ts';
import type { CexConnection, Parameters } from '../../connection.ts';
import type { BalanceAccountType } from '../../dialect.ts';
import { isAsset } from '../../plan.ts';
import * as answers from './answers.ts';
import { identityOf } from './key.ts';
import { ACCOUNT_TYPE_OF } from './names.ts';

/** Most coins in one request. */
const MOST_LEAVING = 20;
const MOST_BALANCES = 10;

const { SPOT: FUND, USDT_FUTURE: UNIFIED } = ACCOUNT_TYPE_OF;

/** As `balances` of the dialect. */
export async function readBalances(
  connection: CexConnection,
  types: readonly BalanceAccountType[],
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  return [
    ...(types.includes('SPOT') ? await ownFunding(connection, call) : []),
    ...(types.includes('USDT_FUTURE') ? await ownUnified(connection, call) : []),
  ];
}

/**
 * As `subBalances` of the dialect. What a recent deposit still locks is in `withdrawable` here:
 * with the master's key only a request for each coin would show it, and Bybit refuses a transfer of
 * it (131228).
 */
export async function readSubBalances(
  master: CexConnection,
  {
    sub_account: memberId,
    types,
  }: { readonly sub_account: string; readonly types: readonly BalanceAccountType[] },
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  return [
    ...(types.includes('SPOT')
      ? await coinPools(master, { accountType: FUND, memberId }, call)
      : []),
    ...(types.includes('USDT_FUTURE') ? await unifiedOfSub(master, memberId, call) : []),
  ];
}

async function ownFunding(
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  const pools = await coinPools(connection, { accountType: FUND }, call);
  // A sub-account cannot withdraw, and has no limit of it.
  if (!(await identityOf(connection, call)).isMaster) return pools;
  const limited: PoolBalance[] = [];
  for (const pool of pools)
    limited.push(mayLeave(pool) ? await limitedPool(connection, pool, call) : pool);
  return limited;
}

/** Of other coins nothing is to be limited; names that are sent unencoded must be plain. */
function mayLeave({ withdrawable, asset }: PoolBalance): boolean {
  return withdrawable !== null && isPositive(withdrawable) && isAsset(asset);
}

/**
 * Returns the pool with what may leave the account: the balance counts what a recent deposit still
 * locks (3). Only one coin is shown at a time.
 */
async function limitedPool(
  connection: CexConnection,
  pool: PoolBalance,
  call: CallOptions,
): Promise<PoolBalance> {
  const schema = answers.resultOf(answers.withdrawable);
  const method = 'privateGetV5AssetWithdrawWithdrawableAmount';
  const found = await ask(connection, method, { coin: pool.asset }, call, schema);
  const most = answers.notBelowZero(found.withdrawableAmount.FUND?.withdrawableAmount ?? null);
  return { ...pool, withdrawable: smaller(pool.withdrawable, most) };
}

/** Returns null if one of them is not shown: then nothing shows what may leave the pool. */
function smaller(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return null;
  return compare(one, other) < 0 ? one : other;
}

async function coinPools(
  connection: CexConnection,
  parameters: Parameters,
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  const schema = answers.resultOf(answers.coinBalances);
  const method = 'privateGetV5AssetTransferQueryAccountCoinsBalance';
  const { balance } = await ask(connection, method, parameters, call, schema);
  return balance.map(({ coin, transferBalance, walletBalance }) => ({
    account_type: parameters['accountType'] === FUND ? 'SPOT' : 'USDT_FUTURE',
    asset: coin.toUpperCase(),
    available: answers.notBelowZero(transferBalance),
    withdrawable: answers.notBelowZero(transferBalance),
    total: answers.notBelowZero(walletBalance),
    details: null,
  }));
}

/** Of what is free in this pool, Bybit shows by coin only what may leave it. */
async function ownUnified(
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  const schema = answers.resultOf(answers.walletBalance);
  const parameters = { accountType: UNIFIED };
  const method = 'privateGetV5AccountWalletBalance';
  const { list } = await ask(connection, method, parameters, call, schema);
  const held = list.flatMap(({ coin }) => coin);
  const names = held.map(({ coin }) => coin);
  const leaving = await leavingUnified(connection, names, call);
  return held.map(({ coin, equity }) => {
    const free = answers.notBelowZero(leaving.get(coin) ?? null);
    const isDebt = equity !== null && compare(equity, '0') < 0;
    return {
      account_type: 'USDT_FUTURE',
      asset: coin.toUpperCase(),
      available: free,
      withdrawable: free,
      total: answers.notBelowZero(equity),
      details: isDebt ? { balance: equity } : null,
    };
  });
}

async function leavingUnified(
  connection: CexConnection,
  coins: readonly string[],
  call: CallOptions,
): Promise<ReadonlyMap<string, string | null>> {
  const schema = answers.resultOf(answers.leaving);
  const found = new Map<string, string | null>();
  for (const coinName of listsOf(coins, MOST_LEAVING)) {
    const method = 'privateGetV5AccountWithdrawal';
    const { availableWithdrawalMap } = await ask(connection, method, { coinName }, call, schema);
    for (const [coin, amount] of Object.entries(availableWithdrawalMap)) found.set(coin, amount);
  }
  return found;
}

/** The balances need the names of coins, which only the overview of the account shows (3). */
async function unifiedOfSub(
  master: CexConnection,
  memberId: string,
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  const schema = answers.resultOf(answers.overview);
  const method = 'privateGetV5AssetAssetOverview';
  const { list } = await ask(master, method, { memberId }, call, schema);
  const coins = list.flatMap(({ coinDetail }) => coinDetail ?? []).map(({ coin }) => coin);
  const pools: PoolBalance[] = [];
  for (const coin of listsOf(coins, MOST_BALANCES))
    pools.push(...(await coinPools(master, { accountType: UNIFIED, memberId, coin }, call)));
  return pools;
}

/** Returns the names in lists as requests take them. They are sent unencoded. */
function listsOf(coins: readonly string[], most: number): readonly string[] {
  const names = [...new Set(coins)].filter(isAsset);
  const lists: string[] = [];
  for (let start = 0; start < names.length; start += most)
    lists.push(names.slice(start, start + most).join(','));
  return lists;
}
