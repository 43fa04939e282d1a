/** Reads the master account's perps balance at the venue. */
import type { BalanceFetcher, PoolBalance } from '../../domain/balances.ts';
import { atLeastZero, type PerpClient } from './client.ts';
import { keepsPerpsApart, PERP_ACCOUNT_TYPE, type PerpVenue } from './config.ts';

const DEFAULT_INTERVAL_SECONDS = 30;

/**
 * Returns a fetcher of one pool: the withdrawable amount, and the account's value with its
 * positions. An account that keeps perps and spot together shows neither, so its amounts are null.
 */
export function createPerpBalances(venue: PerpVenue, client: PerpClient): BalanceFetcher {
  return {
    venue_key: venue.venue_key,
    interval_seconds: venue.fetch_interval_seconds ?? DEFAULT_INTERVAL_SECONDS,
    fetch: async ({ signal }) => ({ pools: [await poolOf(venue, client, signal)], outlook: null }),
  };
}

async function poolOf(
  venue: PerpVenue,
  client: PerpClient,
  signal: AbortSignal,
): Promise<PoolBalance> {
  const pool = { account_type: PERP_ACCOUNT_TYPE, asset: venue.asset };
  const mode = await client.mode(venue.account, { signal });
  if (!keepsPerpsApart(mode))
    return { ...pool, available: null, withdrawable: null, total: null, details: { mode } };
  const state = await client.state(venue.account, { signal });
  return {
    ...pool,
    available: atLeastZero(state.withdrawable),
    withdrawable: atLeastZero(state.withdrawable),
    total: atLeastZero(state.account_value),
    details: { open_positions: state.open_positions },
  };
}
