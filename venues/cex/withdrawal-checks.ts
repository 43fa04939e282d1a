/** Checks whether the exchange can carry out a planned withdrawal. */
import type { CallOptions, ExecutionContext } from '../../domain/executor.ts';
import { compare, isMultiple } from '../../domain/money.ts';
import { rejected } from '../node-plan.ts';
import type { CexAccount } from './accounts.ts';
import type { BookEntry, WithdrawalOrder, WithdrawalTerms } from './dialect.ts';
import { checkAssurance } from './plan.ts';

/**
 * Throws a `rejected` fault unless the withdrawal is possible:
 * `COMPLETION_ASSURANCE_NOT_SUPPORTED`, `NETWORK_UNKNOWN`, `WITHDRAWAL_SUSPENDED`,
 * `ADDRESS_INVALID`, `TAG_INVALID`, `AMOUNT_TOO_SMALL`, `AMOUNT_TOO_LARGE`, `AMOUNT_PRECISION`,
 * `INSUFFICIENT_FUNDS` or `ADDRESS_NOT_WHITELISTED`.
 */
export async function checkWithdrawal(
  account: CexAccount,
  { order, context }: { readonly order: WithdrawalOrder; readonly context: ExecutionContext },
  call: CallOptions,
): Promise<void> {
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
  const pools = await dialect.balances(connection, ['SPOT'], call);
  const free = pools.find(({ asset }) => asset === order.asset)?.withdrawable ?? '0';
  if (compare(free, order.amount) < 0) {
    throw rejected(
      'INSUFFICIENT_FUNDS',
      `${account.venue.venue_key} has ${free} ${order.asset} of the ${order.amount} to be withdrawn`,
    );
  }
  if (!account.venue.withdrawal_whitelist || dialect.addressBook === undefined) return;
  const book = await dialect.addressBook(connection, call);
  if (book.some((entry) => isEntryFor(entry, order))) return;
  throw rejected(
    'ADDRESS_NOT_WHITELISTED',
    "the exchange's address book does not hold the destination as whitelisted",
  );
}

function checkTerms(
  terms: WithdrawalTerms,
  { asset, network, address, tag, amount }: WithdrawalOrder,
): void {
  if (!terms.enabled)
    throw rejected(
      'WITHDRAWAL_SUSPENDED',
      `the exchange does not pay out ${asset} on ${network} at present`,
    );
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

/** Compares addresses: EVM addresses without case, those of other chains with case. */
export function sameAddress(left: string, right: string): boolean {
  const plain = (text: string): string =>
    /^0x[0-9a-f]{40}$/i.test(text) ? text.toLowerCase() : text;
  return plain(left) === plain(right);
}
