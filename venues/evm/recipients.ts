/** Contracts that keep for good what is brought to them. */
import { isAddressEqual, type Address } from 'viem';
import type { EvmVenue } from './config.ts';
import type { OwnContract } from './part.ts';

/**
 * Why what a bridge brings to `recipient` would be lost, else null: a contract of the destination's
 * own entry pays nothing out again.
 */
export function recipientProblem(
  field: string,
  recipient: Address,
  { tokens, contracts, venue_key }: Pick<EvmVenue, 'tokens' | 'contracts' | 'venue_key'>,
): string | null {
  const own = [
    ...contracts,
    ...tokens.map(({ asset, address }): OwnContract => [`the token of ${asset}`, address]),
  ].find(([, address]) => isAddressEqual(address, recipient));
  return own === undefined
    ? null
    : `config.${field}: is ${own[0]} in venue ${venue_key}, and what is sent there is lost`;
}
