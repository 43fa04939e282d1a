/** Which row of the bridge registry belongs to a bound chain. */
import type { BridgeChain } from './registry.ts';

/** The names by which the caller knows a chain. */
export interface ChainNames {
  readonly chain_id: number;
  /** Null for a chain that is not bound. */
  readonly venue_key: string | null;
  /** `<eid>:<address>`; null where the venue entry says nothing of the bridge. */
  readonly endpoint_identity: string | null;
}

/**
 * Matches by the endpoint where it is known, since another endpoint may stand behind the same name;
 * else by the venue's key, then by the decimal chain id.
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
