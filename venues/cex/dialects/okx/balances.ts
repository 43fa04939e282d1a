/** Reads balances at OKX: `SPOT` is the funding account, `USDT_FUTURE` the trading account. */
import type { z } from 'zod';
import type { PoolBalance } from '../../../../domain/balances.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { compare } from '../../../../domain/money.ts';
import { ask } from '../../answers.ts';
import type { CexConnection, Parameters } from '../../connection.ts';
import type { BalanceAccountType } from '../../dialect.ts';
import * as answers from './answers.ts';

/** The calls that read the pools of one account, and what they have to name. */
interface Calls {
  readonly funding: string;
  readonly trading: string;
  readonly maxWithdrawal: string;
  readonly parameters: Parameters;
}

/** The calls for the connection's own account. */
export const OWN: Calls = {
  funding: 'privateGetAssetBalances',
  trading: 'privateGetAccountBalance',
  maxWithdrawal: 'privateGetAccountMaxWithdrawal',
  parameters: {},
};

/** The calls for a sub-account with its master's key. */
export function ofSub(subAcct: string): Calls {
  return {
    funding: 'privateGetAssetSubaccountBalances',
    trading: 'privateGetAccountSubaccountBalances',
    maxWithdrawal: 'privateGetAccountSubaccountMaxWithdrawal',
    parameters: { subAcct },
  };
}

/** Returns the pools of the account whose `calls` these are. */
export async function readBalances(
  connection: CexConnection,
  calls: Calls,
  types: readonly BalanceAccountType[],
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  return [
    ...(types.includes('SPOT') ? await fundingPools(connection, calls, call) : []),
    ...(types.includes('USDT_FUTURE') ? await tradingPools(connection, calls, call) : []),
  ];
}

async function fundingPools(
  connection: CexConnection,
  { funding, parameters }: Calls,
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  const schema = answers.listOf(answers.fundingBalance);
  const found = await ask(connection, funding, parameters, call, schema);
  return found.map(({ ccy, bal, availBal }) => ({
    account_type: 'SPOT',
    asset: ccy.toUpperCase(),
    available: answers.notBelowZero(availBal),
    withdrawable: answers.notBelowZero(availBal),
    total: answers.notBelowZero(bal),
    details: null,
  }));
}

async function tradingPools(
  connection: CexConnection,
  { trading, maxWithdrawal, parameters }: Calls,
  call: CallOptions,
): Promise<readonly PoolBalance[]> {
  const balances = answers.listOf(answers.tradingBalance);
  const found = (await ask(connection, trading, parameters, call, balances)).flatMap(
    ({ details }) => details,
  );
  if (found.length === 0) return [];
  const limits = answers.listOf(answers.maxWithdrawal);
  const most = await ask(connection, maxWithdrawal, parameters, call, limits);
  return found.map((each) => {
    // `maxWd` is without what OKX would lend (docs/okx-facts.md, 3). Where it is missing, nothing
    // shows what may leave the pool.
    const maxWd = most.find(({ ccy }) => ccy === each.ccy)?.maxWd ?? null;
    return tradingPool(each, maxWd);
  });
}

function tradingPool(
  { ccy, availBal, eq }: z.output<typeof answers.tradingDetail>,
  maxWd: string | null,
): PoolBalance {
  const isDebt = eq !== null && compare(eq, '0') < 0;
  return {
    account_type: 'USDT_FUTURE',
    asset: ccy.toUpperCase(),
    available: answers.notBelowZero(availBal),
    withdrawable: answers.notBelowZero(maxWd),
    total: answers.notBelowZero(eq),
    details: isDebt ? { balance: eq } : null,
  };
}
