/** Rules that every transfer between accounts must meet, for every call that can request one. */
import { brokenRule, TOPOLOGY_RULES } from '../../../domain/capital-transfers/topology.ts';
import { isDecimal, isPositive, toBaseUnits } from '../../../domain/money.ts';
import { isAccountType, isVenueAccount, roleOf } from './accounts.ts';
import { refuse, type Refusal } from './actions/action.ts';
import type { Posting, TransferTerms } from './events.ts';
import type { ChainSettings } from './settings.ts';

/** Returns the amount in the asset's smallest unit, or why such a transfer can never be made. */
export function transferUnits(terms: TransferTerms, chain: ChainSettings): bigint | Refusal {
  const place = checkPlaces(terms);
  if (place !== null) return place;
  const token = Object.hasOwn(chain.tokens, terms.asset) ? chain.tokens[terms.asset] : undefined;
  if (token === undefined)
    return refuse('ASSET_NOT_SUPPORTED', `the venue does not list ${terms.asset}`);
  if (!isDecimal(terms.amount) || !isPositive(terms.amount))
    return refuse('AMOUNT_INVALID', 'the amount is not a decimal above zero');
  const units = toBaseUnits(terms.amount, token.decimals);
  return (
    units ??
    refuse('AMOUNT_PRECISION', `the asset has ${token.decimals} decimals, the amount has more`)
  );
}

/**
 * Returns a refusal when `postings` would make a balance negative, else null; `balance` returns the
 * present balances.
 */
export function uncovered(
  postings: readonly Posting[],
  balance: (account: string, accountType: string, asset: string) => bigint,
): Refusal | null {
  const short = postings.find(
    ({ account, account_type, asset, delta }) =>
      BigInt(delta) < 0n && balance(account, account_type, asset) + BigInt(delta) < 0n,
  );
  if (short === undefined) return null;
  return refuse(
    'INSUFFICIENT_BALANCE',
    `${short.account} does not hold enough ${short.asset} in ${short.account_type}`,
  );
}

function checkPlaces(terms: TransferTerms): Refusal | null {
  const { from_account, from_account_type, to_account, to_account_type } = terms;
  const stranger = [from_account, to_account].find((account) => !isVenueAccount(account));
  if (stranger !== undefined)
    return refuse('ACCOUNT_UNKNOWN', `the venue has no account ${stranger}`);
  if (!isAccountType(from_account_type)) return unknownPool(from_account_type);
  if (!isAccountType(to_account_type)) return unknownPool(to_account_type);
  const rule = brokenRule(
    {
      account: { venue_key: from_account, role: roleOf(from_account) },
      account_type: from_account_type,
    },
    { account: { venue_key: to_account, role: roleOf(to_account) }, account_type: to_account_type },
  );
  return rule === null
    ? null
    : refuse('TOPOLOGY_NOT_SUPPORTED', `rule ${rule}: ${TOPOLOGY_RULES[rule]}`);
}

function unknownPool(type: string): Refusal {
  return refuse('ACCOUNT_TYPE_NOT_SUPPORTED', `the venue's accounts have no pool ${type}`);
}
