/**
 * Bounds the exchange's fee of a withdrawal
 * (docs/decisions/0133-a-fee-that-is-known-afterwards.md).
 */
import type { ExecutorFault } from '../../domain/executor.ts';
import { compare, subtract } from '../../domain/money.ts';
import { rejected } from '../node-plan.ts';
import type { WithdrawalOrder } from './dialect.ts';

/** Throws `rejected` `FEE_ABOVE_LIMIT` if the fee, in the order's asset, exceeds its limit. */
export function checkFeeLimit(
  fee: string,
  { fee_limit, asset }: Pick<WithdrawalOrder, 'fee_limit' | 'asset'>,
): void {
  if (fee_limit === null || compare(fee, fee_limit) <= 0) return;
  throw rejected(
    'FEE_ABOVE_LIMIT',
    `the exchange's fee is ${fee} ${asset} at present, and config.fee_limit is ${fee_limit}`,
  );
}

/** How long a fee that was read may be used: a node may wait at its fence after it. */
export const FEE_VALID_MS = 600_000;

/** Returns the fault of a send whose fee was read more than {@link FEE_VALID_MS} before it. */
export function feeExpired(): ExecutorFault {
  return rejected(
    'QUOTE_EXPIRED',
    'the fee was read too long before the send, and may be another one now; nothing was sent',
  );
}

/**
 * Returns the limit of an order whose fee is only known afterwards.
 *
 * @throws ExecutorFault `rejected` `FEE_LIMIT_MISSING`.
 */
export function requireFeeLimit({ fee_limit }: Pick<WithdrawalOrder, 'fee_limit'>): string {
  if (fee_limit !== null) return fee_limit;
  throw rejected(
    'FEE_LIMIT_MISSING',
    'the exchange shows no fee before a send; set config.fee_limit',
  );
}

/**
 * Returns what an order sends whose fee is only known afterwards: its amount without the most that
 * the fee may be. Zero or negative if the limit is as large as the amount.
 *
 * @throws ExecutorFault `rejected` `FEE_LIMIT_MISSING` for an order without a limit.
 */
export function netAmount(order: Pick<WithdrawalOrder, 'amount' | 'fee_limit'>): string {
  return subtract(order.amount, requireFeeLimit(order));
}
