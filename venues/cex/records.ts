/** Reads what an exchange's own books show of a bound account, to compare it with ours. */
import type { CallOptions } from '../../domain/executor.ts';
import type { VenueRecord } from '../../domain/reconcile/records.ts';
import type { CexAccounts } from './accounts.ts';
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
  accounts: CexAccounts,
  venueKey: string,
  period: Period,
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const { venue, dialect, own } = accounts.get(venueKey);
  const bindings = accounts.list().map((each) => each.venue);
  const subs = subAccountsOf(venue, bindings);
  const records = await dialect.records(await own(), { period, subs }, call);
  if (dialect.search.by === 'client_id') return records;
  // Of a withdrawal without an id of ours, the exchange's own id is what both sides know.
  return records.map((each) =>
    each.kind === 'withdrawal' ? { ...each, client_id: each.id } : each,
  );
}

/** Returns the exchange's names of the master's bound sub-accounts; null for a sub-account. */
function subAccountsOf(
  { account_role, venue_key }: CcxtVenue,
  bindings: readonly CcxtVenue[],
): readonly string[] | null {
  if (account_role === 'sub') return null;
  return bindings.filter(({ master }) => master === venue_key).map(({ account }) => account);
}

/** What the service has sent, as {@link expectedClientId} needs it. */
export interface Sent {
  readonly kind: 'withdrawal' | 'node_transfer' | 'capital_transfer';
  /** The idempotency key of a node, or the reference of a capital transfer. */
  readonly key: string;
  /** The exchange's id of the record; null: not known. */
  readonly external_ref: string | null;
}

/**
 * Returns the client id of the exchange's record of what the service sent, as
 * {@link readVenueRecords} returns it; null if it is not known.
 *
 * @throws ExecutorFault `rejected` `VENUE_NOT_BOUND` for an unknown venue key.
 */
export function expectedClientId(
  accounts: CexAccounts,
  venueKey: string,
  { kind, key, external_ref }: Sent,
): string | null {
  const { dialect } = accounts.get(venueKey);
  switch (kind) {
    case 'withdrawal':
      return dialect.search.by === 'client_id' ? dialect.withdrawalId(key) : external_ref;
    case 'node_transfer':
      return dialect.transferId(hashedId(key));
    case 'capital_transfer':
      return dialect.transferId(key);
  }
}
