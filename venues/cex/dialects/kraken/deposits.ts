/** Finds deposits at Kraken, which has no filter by transaction (docs/kraken-facts.md, 6). */
import type { z } from 'zod';
import { plainTransaction } from '../../../../domain/chains/transaction.ts';
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import { subtract } from '../../../../domain/money.ts';
import type { CexConnection } from '../../connection.ts';
import type { DepositRecord, Period } from '../../dialect.ts';
import * as answers from './answers.ts';
import { assetsOf } from './assets.ts';
import { readAll } from './history.ts';
import { depositState } from './states.ts';

export type ListedDeposit = z.output<typeof answers.deposit>;

/**
 * As `findDeposits` of the dialect.
 *
 * @throws ExecutorFault `DEPOSIT_AMOUNT_UNKNOWN` when Kraken credited the transaction together with
 *   others.
 */
export async function findDeposits(
  connection: CexConnection,
  of: { readonly transaction: string; readonly asset: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly DepositRecord[]> {
  const assets = await assetsOf(connection, call);
  const asset = assets.find(of.asset)?.altname;
  const listed = await readDeposits(connection, { asset, period: of.period }, call);
  return listed
    .filter((each) => assets.nameOf(each.asset) === of.asset && isOf(each, of.transaction))
    .map((each) => {
      const [status, exchange_status] = depositState(each);
      return {
        id: each.refid,
        status,
        exchange_status,
        asset: of.asset,
        // Kraken shows no network of a deposit (14).
        network: null,
        amount: creditedAmount(each),
        transaction: of.transaction,
      };
    });
}

/** Returns the deposits in the period; with Kraken's name of an asset those of the asset. */
export function readDeposits(
  connection: CexConnection,
  { asset, period }: { readonly asset: string | undefined; readonly period: Period },
  call: CallOptions,
): Promise<readonly ListedDeposit[]> {
  const schema = answers.pageOf(answers.deposit, ['deposit', 'deposits']);
  const of = { method: 'privatePostDepositStatus', filter: { asset }, period, schema };
  return readAll(connection, of, call);
}

/**
 * Returns what was credited. Whether `amount` is without the fee is unproven (6), so a fee is
 * subtracted: less is moved on than arrived, never more.
 */
export function creditedAmount({ amount, fee }: ListedDeposit): string {
  return answers.notBelowZero(subtract(amount, fee ?? '0'));
}

/**
 * Returns whether the deposit is of the transaction: by its own one, or by that of the sender if
 * Kraken credits it with a sweep (6).
 */
function isOf({ txid, originators }: ListedDeposit, transaction: string): boolean {
  const plain = plainTransaction(transaction);
  if (txid !== null && plainTransaction(txid) === plain) return true;
  const senders = new Set((originators ?? []).map(plainTransaction));
  if (!senders.has(plain)) return false;
  if (senders.size === 1) return true;
  throw new ExecutorFault(
    'protocol',
    'DEPOSIT_AMOUNT_UNKNOWN',
    `the exchange credited this transaction together with ${String(senders.size - 1)} others, and does not show its part`,
  );
}
