/** Finds deposits at OKX. */
import type { z } from 'zod';
import { plainTransaction } from '../../../../domain/chains/transaction.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { ask } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type { DepositRecord, Period } from '../../dialect.ts';
import { windows } from '../../windows.ts';
import * as answers from './answers.ts';
import { networkOf } from './names.ts';
import { depositState } from './states.ts';
import { KEPT } from './withdrawals.ts';

export type ListedDeposit = z.output<typeof answers.deposit>;

/** As `findDeposits` of the dialect. */
export async function findDeposits(
  connection: CexConnection,
  of: { readonly transaction: string; readonly asset: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly DepositRecord[]> {
  windows(of.period, KEPT);
  const schema = answers.listOf(answers.deposit);
  for (const filter of filtersOf(of.transaction)) {
    const parameters = { ccy: of.asset, ...filter };
    const listed = await ask(connection, 'privateGetAssetDepositHistory', parameters, call, schema);
    const found = listed.filter((each) => isOf(each, of));
    if (found.length > 0) return found.map(depositRecord);
  }
  return [];
}

/** Returns the transaction of a deposit; null: OKX shows none. */
export function transactionOf({ txId, fromWdId }: ListedDeposit): string | null {
  // A booking within OKX has the id of the other side's withdrawal (docs/okx-facts.md, 5).
  return fromWdId ?? txId;
}

/**
 * Returns the filters by which OKX may have the deposits, the likeliest first. Whether it compares
 * a hash without `0x` and without case is unproven (docs/okx-facts.md, 9).
 */
function filtersOf(transaction: string): readonly Readonly<Record<string, string>>[] {
  if (/^[0-9]{1,32}$/.test(transaction)) return [{ fromWdId: transaction }];
  const plain = plainTransaction(transaction);
  const forms = /^[0-9a-f]{64}$/.test(plain) ? [transaction, `0x${plain}`, plain] : [transaction];
  return [...new Set(forms)].map((txId) => ({ txId }));
}

/** OKX's filters are not relied on: another deposit would count as the expected one. */
function isOf(
  each: ListedDeposit,
  { asset, transaction }: { readonly asset: string; readonly transaction: string },
): boolean {
  const [expected, names] = [plainTransaction(transaction), [each.txId, each.fromWdId]];
  return (
    each.ccy === asset && names.some((name) => name !== null && plainTransaction(name) === expected)
  );
}

function depositRecord(each: ListedDeposit): DepositRecord {
  const [status, exchange_status] = depositState(each.state);
  return {
    id: each.depId,
    status,
    exchange_status,
    asset: each.ccy,
    network: networkOf(each.ccy, each.chain),
    amount: each.amt,
    transaction: transactionOf(each) ?? '',
  };
}
