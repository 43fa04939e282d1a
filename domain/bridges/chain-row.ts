/** Finds the row of the bridge registry that belongs to a bound chain. */
import type { BridgeChain } from './registry.ts';

/** The names of a chain that the caller knows. */
export interface ChainNames {
  readonly chain_id: number;
  /** Null for a chain that is not in the venues file. */
  readonly venue_key: string | null;
  /** `<eid>:<address>`; null if the chain's venue entry does not name the bridge. */
  readonly endpoint_identity: string | null;
}

/**
 * Returns the row with the same endpoint if the endpoint is known, since the same name may belong
 * to another endpoint. Otherwise matches by the venue's key, then by the decimal chain id.
 */
export function chainRowOf<Row extends Pick<BridgeChain, 'chain' | 'endpoint_identity'>>(
  rows: readonly Row[],
  { chain_id, venue_key, endpoint_identity }: ChainNames,
): Row | null {
  if (endpoint_identity !== null) {
    const wanted = endpoint_identity.toLowerCase();
    return rows.find((row) => row.endpoint_identity.toLowerCase() === wanted) ?? null;
  }
  const named = (name: string): Row | undefined => rows.find(({ chain }) => chain === name);
  return (venue_key === null ? undefined : named(venue_key)) ?? named(String(chain_id)) ?? null;
}
