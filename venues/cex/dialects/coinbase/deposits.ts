/** Finds deposits at Coinbase. */
import { plainTransaction } from '../../../../domain/chains/transaction.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import type { CexConnection } from '../../connection.ts';
import type { DepositRecord, Period } from '../../dialect.ts';
import { readWallets } from './accounts.ts';
import { statusOf } from './states.ts';
import { isDebit, networkOf, readTransactions, sizeOf, type Transaction } from './transactions.ts';

/** `receive` today, `send` with a plus until 2024, and `tx`, which may be anything (10, 11). */
const TYPES: readonly string[] = ['receive', 'send', 'tx'];

/** Returns whether the transaction is a deposit. */
export function isDeposit(each: Transaction): boolean {
  return TYPES.includes(each.type) && !isDebit(each);
}

/**
 * As `findDeposits` of the dialect. A deposit is found by its hash alone, which Coinbase does not
 * promise to show: one without a hash proves nothing (docs/coinbase-facts.md, 11).
 */
export async function findDeposits(
  connection: CexConnection,
  of: { readonly transaction: string; readonly asset: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly DepositRecord[]> {
  const expected = plainTransaction(of.transaction);
  const found: DepositRecord[] = [];
  for (const account of await readWallets(connection, of.asset, call)) {
    const listed = await readTransactions(connection, { account, from: of.period.from }, call);
    for (const each of listed) {
      if (!isDeposit(each) || each.amount.currency !== of.asset) continue;
      const { hash, name } = networkOf(each);
      if (hash === null || plainTransaction(hash) !== expected) continue;
      found.push({
        id: each.id,
        status: statusOf(each.status),
        exchange_status: each.status,
        asset: of.asset,
        network: name,
        amount: sizeOf(each),
        transaction: hash,
      });
    }
  }
  return found;
}
