/** Pools that approvals draw from: each is the spot account of a venue with very much in it. */
import type { BalanceFetcher } from '../domain/balances.ts';

/** More than any run of the bench reserves. */
const PLENTY = '1000000000';
/** As for an exchange: the sum of what left since the last one is part of each approval. */
const INTERVAL_SECONDS = 30;

/** Returns the key of the venue of pool 1, 2, … */
export function poolVenue(number: number): string {
  return `pool-${String(number)}`;
}

/** Returns a fetcher for each of so many pools, which answers at once. */
export function poolFetchers(count: number): readonly BalanceFetcher[] {
  return Array.from({ length: count }, (_, index) => ({
    venue_key: poolVenue(index + 1),
    interval_seconds: INTERVAL_SECONDS,
    fetch: async () => ({
      pools: [
        {
          account_type: 'SPOT',
          asset: 'USDC',
          available: PLENTY,
          withdrawable: PLENTY,
          total: PLENTY,
          details: null,
        },
      ],
      outlook: null,
    }),
  }));
}
