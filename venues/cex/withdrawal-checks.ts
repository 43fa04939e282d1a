/** Checks whether the exchange can carry out a planned withdrawal. */
import type {
  CallOptions,
  ExecutionContext,
  ExecutionResult,
  ExecutorFault,
} from '../../domain/executor.ts';
import { sameAddress } from '../../domain/allowlist/address.ts';
import { compare, isMultiple } from '../../domain/money.ts';
import { quotaWait, suspendedWait, type ExpectedWait } from '../../domain/withdrawal-outlook.ts';
import { rejected } from '../node-plan.ts';
import type { CexAccount } from './accounts.ts';
import { requireBoundKey } from './binding.ts';
import type { BookEntry, WithdrawalOrder, WithdrawalTerms } from './dialect.ts';
import { checkFeeLimit, requireFeeLimit } from './fee-limit.ts';
import { fits } from './patterns.ts';
import { checkAssurance, checkHistory } from './plan.ts';

/**
 * Returns null if the withdrawal is possible, and READY if the exchange does not make it at present
 * (`VENUE_SUSPENDED`, `WITHDRAWAL_QUOTA_EXHAUSTED`). Throws a `rejected` fault if it is not
 * possible: `COMPLETION_ASSURANCE_NOT_SUPPORTED`, `HISTORY_TOO_OLD`, `NETWORK_UNKNOWN`,
 * `ADDRESS_INVALID`, `TAG_INVALID`, `FEE_LIMIT_MISSING`, `FEE_ABOVE_LIMIT`, `AMOUNT_TOO_SMALL`,
 * `AMOUNT_TOO_LARGE`, `AMOUNT_PRECISION`, `INSUFFICIENT_FUNDS`, `ADDRESS_NOT_WHITELISTED` or
 * `EXCHANGE_KEY_REFUSED`.
 */
export async function checkWithdrawal(
  account: CexAccount,
  { order, context }: { readonly order: WithdrawalOrder; readonly context: ExecutionContext },
  call: CallOptions,
): Promise<ExecutionResult | null> {
  checkAssurance(context, 'provider_completed');
  const { dialect } = account;
  checkHistory(context, dialect.withdrawals);
  if (dialect.fee_after_send) requireFeeLimit(order);
  const connection = await account.own();
  await requireBoundKey(dialect, { connection, venue: account.venue }, call);
  const terms = await dialect.withdrawalTerms(connection, order, call);
  if (terms === null) throw networkUnknown(order);
  checkTerms(terms, order);
  if (!terms.enabled) return waitFor(suspendedWait(order, terms.opens_at));
  const pools = await dialect.balances(connection, ['SPOT'], call);
  const free = pools.find(({ asset }) => asset === order.asset)?.withdrawable ?? '0';
  if (compare(free, order.amount) < 0) {
    throw rejected(
      'INSUFFICIENT_FUNDS',
      `${account.venue.venue_key} has ${free} ${order.asset} of the ${order.amount} to be withdrawn`,
    );
  }
  if (account.venue.withdrawal_whitelist && dialect.addressBook !== undefined) {
    const book = await dialect.addressBook(connection, call);
    if (!book.some((entry) => isEntryFor(entry, order)))
      throw rejected(
        'ADDRESS_NOT_WHITELISTED',
        "the exchange's address book does not hold the destination as whitelisted",
      );
  }
  const wait = quotaWait(terms.quota, order);
  return wait === null ? null : waitFor(wait);
}

/** Returns the fault of an order for which the exchange has no terms. */
export function networkUnknown({ asset, network }: WithdrawalOrder): ExecutorFault {
  return rejected('NETWORK_UNKNOWN', `the exchange does not have ${asset} on ${network}`);
}

function waitFor({ code, message }: ExpectedWait): ExecutionResult {
  return { next_state: 'READY', error_code: code, error_message: message };
}

function checkTerms(terms: WithdrawalTerms, order: WithdrawalOrder): void {
  const { network, address, tag, amount } = order;
  if (!fits(terms.address_pattern, address))
    throw rejected('ADDRESS_INVALID', `the exchange accepts no such address on ${network}`);
  if (tag !== null && !fits(terms.tag_pattern, tag))
    throw rejected('TAG_INVALID', `the exchange accepts no such tag on ${network}`);
  checkFeeLimit(terms.fee, order);
  if (compare(amount, terms.min) < 0)
    throw rejected('AMOUNT_TOO_SMALL', `${amount} is below the exchange's minimum of ${terms.min}`);
  if (compare(amount, terms.fee) <= 0)
    throw rejected(
      'AMOUNT_TOO_SMALL',
      `${amount} does not exceed the exchange's fee of ${terms.fee}`,
    );
  if (terms.max !== null && compare(amount, terms.max) > 0) {
    throw rejected('AMOUNT_TOO_LARGE', `${amount} is above the exchange's maximum of ${terms.max}`);
  }
  if (terms.step !== null && !isMultiple(amount, terms.step)) {
    throw rejected(
      'AMOUNT_PRECISION',
      `${amount} is not a multiple of ${terms.step}, as the exchange requires`,
    );
  }
}

function isEntryFor(entry: BookEntry, order: WithdrawalOrder): boolean {
  return (
    entry.whitelisted &&
    sameAddress(entry.address, order.address) &&
    entry.tag === order.tag &&
    (entry.asset === null || entry.asset === order.asset) &&
    (entry.network === null || entry.network === order.network)
  );
}
