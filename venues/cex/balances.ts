/** Fetches balances of exchange accounts. */
import type { BalanceFetcher, FetchedBalances } from '../../domain/balances.ts';
import type { WithdrawalOutlook } from '../../domain/withdrawal-outlook.ts';
import type { CexAccount, CexAccounts } from './accounts.ts';
import type { CexConnection } from './connection.ts';
import type { Dialect } from './dialect.ts';
import { QUESTIONS } from './served/protocol.ts';

const DEFAULT_INTERVAL_SECONDS = 30;
/** Balances are stored after the outlook, so it must not hold them up for long. */
const OUTLOOK_WITHIN_MS = 5_000;
/** How long a process with the account's keys is waited for, as long as a fetch may take. */
const SERVED_WITHIN_SECONDS = 10;

/** Returns a fetcher for each binding, with the account's own key or else its master's key. */
export function createCexBalances(accounts: CexAccounts): readonly BalanceFetcher[] {
  return accounts.list().map((account) => ({
    venue_key: account.venue.venue_key,
    interval_seconds: account.venue.fetch_interval_seconds ?? DEFAULT_INTERVAL_SECONDS,
    fetch: (call) => {
      const { venue, served } = account;
      if (served === null) return fetchOf(account, call.signal);
      const { venue_key } = venue;
      const about = { accounts: [account], call, timeoutSeconds: SERVED_WITHIN_SECONDS };
      return served.ask(QUESTIONS.balances, { venue_key }, about);
    },
  }));
}

async function fetchOf(
  { venue, dialect, own, ofMaster }: CexAccount,
  signal: AbortSignal,
): Promise<FetchedBalances> {
  const types = venue.account_types;
  if (venue.credentials_file === undefined) {
    const of = { sub_account: venue.account, types };
    const pools = await dialect.subBalances(await ofMaster(), of, { signal });
    // Without a key of its own the account withdraws nothing.
    return { pools, outlook: null };
  }
  const connection = await own();
  const pools = await dialect.balances(connection, types, { signal });
  const assets = [...new Set(pools.map(({ asset }) => asset))];
  return { pools, outlook: await outlookOf(dialect, connection, assets, signal) };
}

/** Null also if it cannot be read: balances must not be lost with it. */
async function outlookOf(
  dialect: Dialect,
  connection: CexConnection,
  assets: readonly string[],
  signal: AbortSignal,
): Promise<WithdrawalOutlook | null> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(OUTLOOK_WITHIN_MS)]);
  try {
    return (await dialect.outlook?.(connection, assets, { signal: within })) ?? null;
  } catch {
    return null;
  }
}
