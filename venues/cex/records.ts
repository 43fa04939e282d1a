/** Reads what an exchange's own books show of a bound account, to compare it with ours. */
import type { CallOptions } from '../../domain/executor.ts';
import type { VenueRecord } from '../../domain/reconcile/records.ts';
import { createCexAccounts } from './accounts.ts';
import { hashedId } from './client-id.ts';
import type { CcxtVenue } from './config.ts';
import type { Period } from './dialect.ts';

/**
 * Returns the account's withdrawals and deposits in the period; of a master also the transfers that
 * it sent, and those from and to its bound sub-accounts.
 *
 * @throws ExecutorFault `rejected` `VENUE_NOT_BOUND` for an unknown venue key, `rejected`
 *   `CREDENTIALS_MISSING` for a sub-account without its own API key, `HISTORY_TOO_OLD` if the
 *   period starts before the exchange's history.
 */
export async function readVenueRecords(
  bindings: readonly CcxtVenue[],
  venueKey: string,
  period: Period,
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const { venue, dialect, own } = createCexAccounts(bindings).get(venueKey);
  return dialect.records(await own(), { period, subs: subAccountsOf(venue, bindings) }, call);
}

/** Returns the exchange's names of the master's bound sub-accounts; null for a sub-account. */
function subAccountsOf(
  { account_role, venue_key }: CcxtVenue,
  bindings: readonly CcxtVenue[],
): readonly string[] | null {
  if (account_role === 'sub') return null;
  return bindings.filter(({ master }) => master === venue_key).map(({ account }) => account);
}

/**
 * Returns the client id that the exchange stores with what the service sent. `key` is the
 * idempotency key of a node, or the reference of a capital transfer.
 *
 * @throws ExecutorFault `rejected` `VENUE_NOT_BOUND` for an unknown venue key.
 */
export function expectedClientId(
  bindings: readonly CcxtVenue[],
  venueKey: string,
  kind: 'withdrawal' | 'node_transfer' | 'capital_transfer',
  key: string,
): string {
  const { dialect } = createCexAccounts(bindings).get(venueKey);
  switch (kind) {
    case 'withdrawal':
      return dialect.withdrawalId(key);
    case 'node_transfer':
      return dialect.transferId(hashedId(key));
    case 'capital_transfer':
      return dialect.transferId(key);
  }
}
