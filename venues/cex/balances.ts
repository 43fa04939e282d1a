/** Fetches balances of exchange accounts. */
import type { BalanceFetcher } from '../../domain/balances.ts';
import { createCexAccounts, type CexAccount } from './accounts.ts';
import type { CcxtVenue } from './config.ts';

const DEFAULT_INTERVAL_SECONDS = 30;

/** Returns a fetcher for each binding, with the account's own key or else its master's key. */
export function createCexBalances(bindings: readonly CcxtVenue[]): readonly BalanceFetcher[] {
  return createCexAccounts(bindings)
    .list()
    .map((account) => ({
      venue_key: account.venue.venue_key,
      interval_seconds: account.venue.fetch_interval_seconds ?? DEFAULT_INTERVAL_SECONDS,
      fetch: (call) => fetchOf(account, call.signal),
    }));
}

async function fetchOf({ venue, dialect, own, ofMaster }: CexAccount, signal: AbortSignal) {
  const types = venue.account_types;
  if (venue.credentials_file !== undefined) return dialect.balances(await own(), types, { signal });
  return dialect.subBalances(await ofMaster(), { sub_account: venue.account, types }, { signal });
}
