/** Reads what an exchange's own books show of a bound account, to compare it with ours. */
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { VenueRecord } from '../../domain/reconcile/records.ts';
import type { CexAccount, CexAccounts } from './accounts.ts';
import { hashedId } from './client-id.ts';
import type { CcxtVenue } from './config.ts';
import type { BookEntry, Period } from './dialect.ts';
import type { ServedExchange } from './served/client.ts';
import { QUESTIONS, RECORDS_TOO_MANY } from './served/protocol.ts';

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
  const account = accounts.get(venueKey);
  const { venue, dialect, served, own } = account;
  if (served !== null) return servedRecords({ account, served }, period, call);
  const bindings = accounts.list().map((each) => each.venue);
  const subs = subAccountsOf(venue, bindings);
  const records = await dialect.records(await own(), { period, subs }, call);
  if (dialect.search.by === 'client_id') return records;
  // Of a withdrawal without an id of ours, the exchange's own id is what both sides know.
  return records.map((each) =>
    each.kind === 'withdrawal' ? { ...each, client_id: each.id } : each,
  );
}

/** Longest time of one answer: an exchange shows its history slowly. */
const RECORDS_TIMEOUT_SECONDS = 600;
/** A shorter period is not divided. */
const SHORTEST_MS = 60_000;

/** Reads the records from the process, in parts where one answer does not hold them all. */
async function servedRecords(
  at: { readonly account: CexAccount; readonly served: ServedExchange },
  period: Period,
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const { venue_key } = at.account.venue;
  const about = { accounts: [at.account], call, timeoutSeconds: RECORDS_TIMEOUT_SECONDS };
  try {
    return (await at.served.ask(QUESTIONS.records, { venue_key, period }, about)).records;
  } catch (error) {
    const isTooMany = error instanceof ExecutorFault && error.code === RECORDS_TOO_MANY;
    if (!isTooMany || period.to - period.from < SHORTEST_MS) throw error;
  }
  const middle = Math.floor((period.from + period.to) / 2);
  const parts = [
    await servedRecords(at, { from: period.from, to: middle }, call),
    await servedRecords(at, { from: middle + 1, to: period.to }, call),
  ];
  // An exchange that counts in seconds shows a record of the border in both parts.
  return [...new Map(parts.flat().map((each) => [`${each.kind} ${each.id}`, each])).values()];
}

/**
 * Returns the account's address book at the exchange; null: the exchange has no call for it.
 *
 * @throws ExecutorFault as {@link readVenueRecords}.
 */
export async function readAddressBook(
  accounts: CexAccounts,
  venueKey: string,
  call: CallOptions,
): Promise<readonly BookEntry[] | null> {
  const account = accounts.get(venueKey);
  const { dialect, served, own } = account;
  if (served === null) return (await dialect.addressBook?.(await own(), call)) ?? null;
  const about = { accounts: [account], call };
  return (await served.ask(QUESTIONS.addressBook, { venue_key: venueKey }, about)).entries;
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
