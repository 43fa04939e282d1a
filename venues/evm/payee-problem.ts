/** Finds bridge payees from which the bridged tokens could never be recovered. */
import { isAddressEqual, type Address } from 'viem';
import type { EvmVenue } from './config.ts';
import type { OwnContract } from './part.ts';

/**
 * Returns why tokens that a bridge pays to `payee` would be lost; else null. A contract that the
 * destination's venue entry lists would keep such tokens forever.
 */
export function payeeProblem(
  field: string,
  payee: Address,
  { tokens, contracts, venue_key }: Pick<EvmVenue, 'tokens' | 'contracts' | 'venue_key'>,
): string | null {
  const own = [
    ...contracts,
    ...tokens.map(({ asset, address }): OwnContract => [`the token of ${asset}`, address]),
  ].find(([, address]) => isAddressEqual(address, payee));
  return own === undefined
    ? null
    : `config.${field}: is ${own[0]} in venue ${venue_key}, and tokens sent there are lost`;
}
