/** Fetches balances of exchange accounts. */
import type { BalanceFetcher } from '../../domain/balances.ts';
import type { CexAccount, CexAccounts } from './accounts.ts';

const DEFAULT_INTERVAL_SECONDS = 30;

/** Returns a fetcher for each binding, with the account's own key or else its master's key. */
export function createCexBalances(accounts: CexAccounts): readonly BalanceFetcher[] {
  return accounts.list().map((account) => ({
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
