/** Returns faults of a chain's entry: conflicts with earlier entries, and repeated tokens. */
import type { Place } from '../entry.ts';
import { isEvmVenue, type EvmVenue } from './config.ts';
import type { ChainPart } from './part.ts';

export function chainFaults(
  venue: EvmVenue,
  { at, earlier }: Place,
  parts: readonly ChainPart[],
): readonly string[] {
  const above = earlier.filter(isEvmVenue);
  // Nodes name a chain only by its id, so two entries of one chain would be ambiguous.
  const bound = above.some(({ chain_id }) => chain_id === venue.chain_id);
  return [
    ...(bound ? [`${at}.chain_id: chain ${venue.chain_id} is already bound above`] : []),
    ...tokenRepeats(venue, `${at}.tokens`),
    ...parts.flatMap((part) => part.faults(venue, above, at)),
  ];
}

/** Refuses an asset with two tokens or a token with two assets: limits need to know the asset. */
function tokenRepeats({ native_asset, tokens }: EvmVenue, path: string): readonly string[] {
  return tokens.flatMap(({ asset, address }, index) => {
    const earlier = tokens.slice(0, index);
    return [
      ...(asset === native_asset
        ? [`${path}[${index}].asset: ${asset} is the chain's own coin`]
        : []),
      ...(earlier.some((other) => other.asset === asset)
        ? [`${path}[${index}].asset: ${asset} is already listed above`]
        : []),
      ...(earlier.some((other) => other.address === address)
        ? [`${path}[${index}].address: this token is already listed above`]
        : []),
    ];
  });
}
