/**
 * Describes the contracts of a bridge path, from the venues file, as a text. The text changes with
 * any of these contracts. A passed drill (a test transfer over the path) counts only while the text
 * is the same.
 */
import type { ChainEntry } from '../plan/tokens.ts';

type BoundChain = Pick<ChainEntry, 'chain_id' | 'tokens' | 'bridges'>;

/**
 * Returns what an asset uses at each bound endpoint, keyed by the endpoint's identity in lower
 * case.
 */
export function endContracts(
  chains: readonly BoundChain[],
  asset: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    chains.flatMap(({ chain_id, tokens, bridges }) =>
      Object.values(bridges).flatMap(({ endpoint_identity, carriers }) => {
        const token = tokens.find((each) => each.asset === asset)?.address;
        const carrier = carriers.find((each) => each.asset === asset)?.address;
        if (endpoint_identity === null || token === undefined || carrier === undefined) return [];
        const identity = endpoint_identity.toLowerCase();
        const words = `chain ${String(chain_id)} endpoint ${identity} oft ${carrier} token ${token}`;
        return [[identity, words.toLowerCase()]];
      }),
    ),
  );
}

/**
 * Returns the text of a path's contracts; null if an end is not bound here or does not carry the
 * asset. The SQL function note_bridge_drill joins the parts in the same way.
 */
export function pathContracts(
  chains: readonly BoundChain[],
  { source, destination }: { readonly source: string; readonly destination: string },
  asset: string,
): string | null {
  const ends = endContracts(chains, asset);
  const [from, to] = [ends[source.toLowerCase()], ends[destination.toLowerCase()]];
  return from === undefined || to === undefined ? null : `${from}; ${to}`;
}
