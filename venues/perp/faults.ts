/** Finds conflicts of the perps venue's entry with other entries of the file. */
import type { Place, VenueEntry } from '../entry.ts';
import { isEvmVenue } from '../evm/config.ts';
import type { PerpVenue } from './config.ts';

/**
 * Returns the faults of the entry. Only one is allowed, and its deposits must come from a bound
 * chain in a token that the chain's entry lists.
 */
export function bindingFaults(
  { provider, chain_id, asset }: PerpVenue,
  { at, earlier, all }: Place,
): readonly string[] {
  const chain = all.filter(isEvmVenue).find((other) => other.chain_id === chain_id);
  const isSame = (other: VenueEntry): boolean => other.provider === provider;
  const listed = chain?.tokens.some((token) => token.asset === asset) ?? true;
  return [
    ...(earlier.some(isSame) ? [`${at}.provider: a perp venue is already bound above`] : []),
    ...(chain === undefined ? [`${at}.chain_id: chain ${chain_id} is not bound in this file`] : []),
    ...(listed
      ? []
      : [`${at}.asset: ${asset} is not among the tokens of venue ${chain?.venue_key ?? ''}`]),
  ];
}
