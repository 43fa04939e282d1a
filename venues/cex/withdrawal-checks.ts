/** Checks whether the exchange can carry out a planned withdrawal. */
import type { CallOptions, ExecutionContext, ExecutionResult } from '../../domain/executor.ts';
import { sameAddress } from '../../domain/allowlist/address.ts';
import { compare, isMultiple } from '../../domain/money.ts';
import { rejected } from '../node-plan.ts';
import type { CexAccount } from './accounts.ts';
import type { BookEntry, WithdrawalOrder, WithdrawalTerms } from './dialect.ts';
import { checkAssurance } from './plan.ts';

/**
 * Returns null if the withdrawal is possible, and READY if the exchange does not make it at present
 * (`VENUE_SUSPENDED`, `WITHDRAWAL_QUOTA_EXHAUSTED`). Throws a `rejected` fault if it is not
 * possible: `COMPLETION_ASSURANCE_NOT_SUPPORTED`, `NETWORK_UNKNOWN`, `ADDRESS_INVALID`,
 * `TAG_INVALID`, `AMOUNT_TOO_SMALL`, `AMOUNT_TOO_LARGE`, `AMOUNT_PRECISION`,
 * `INSUFFICIENT_FUNDS` or `ADDRESS_NOT_WHITELISTED`.
 */
export async function checkWithdrawal(
  account: CexAccount,
  { order, context }: { readonly order: WithdrawalOrder; readonly context: ExecutionContext },
  call: CallOptions,
): Promise<ExecutionResult | null> {
  checkAssurance(context, 'provider_completed');
  const { dialect } = account;
  const connection = await account.own();
  const terms = await dialect.withdrawalTerms(connection, order, call);
  if (terms === null)
    throw rejected(
      'NETWORK_UNKNOWN',
      `the exchange does not have ${order.asset} on ${order.network}`,
    );
  checkTerms(terms, order);
  if (!terms.enabled) return suspended(terms, order);
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
  return overQuota(terms, order);
}

function suspended(
  { opens_at }: WithdrawalTerms,
  { asset, network }: WithdrawalOrder,
): ExecutionResult {
  const until = opens_at === null ? '' : `; it expects to do so from ${opens_at}`;
  return {
    next_state: 'READY',
    error_code: 'VENUE_SUSPENDED',
    error_message: `the exchange does not pay out ${asset} on ${network} at present${until}`,
  };
}

/**
 * Returns READY if the amount is above what is left of the account's quota. A quota in another unit
 * than the asset decides only when nothing is left of it: the service knows no exchange rates.
 */
function overQuota(
  { quota }: WithdrawalTerms,
  { asset, amount }: WithdrawalOrder,
): ExecutionResult | null {
  if (quota === null) return null;
  const isOver =
    quota.unit === asset ? compare(amount, quota.left) > 0 : compare(quota.left, '0') <= 0;
  if (!isOver) return null;
  return {
    next_state: 'READY',
    error_code: 'WITHDRAWAL_QUOTA_EXHAUSTED',
    error_message: `the account may withdraw ${quota.left} ${quota.unit} at present`,
  };
}

function checkTerms(
  terms: WithdrawalTerms,
  { network, address, tag, amount }: WithdrawalOrder,
): void {
  if (!fits(terms.address_pattern, address))
    throw rejected('ADDRESS_INVALID', `the exchange accepts no such address on ${network}`);
  if (tag !== null && !fits(terms.tag_pattern, tag))
    throw rejected('TAG_INVALID', `the exchange accepts no such tag on ${network}`);
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

/**
 * Returns whether the text fits the pattern. A pattern that JavaScript cannot parse counts as
 * fitting: the exchange checks the text itself.
 */
function fits(pattern: string | null, text: string): boolean {
  if (pattern === null) return true;
  try {
    return new RegExp(`^(?:${pattern})$`).test(text);
  } catch {
    return true;
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
