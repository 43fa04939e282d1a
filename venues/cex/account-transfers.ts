/**
 * Moves funds between the accounts of one master, for capital transfers and for
 * `cex_internal_transfer` nodes.
 */
import { transferEntries, type TransferAccount } from '../../domain/capital-transfers/topology.ts';
import type {
  TransferAnswer,
  TransferEnd,
  TransferOrder,
  TransferProvider,
} from '../../domain/capital-transfers/provider.ts';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import { compare, toBaseUnits } from '../../domain/money.ts';
import { VENUE_ENTRY_CHANGED } from '../../domain/send/at-venue.ts';
import { areOther, requireSameEntries } from '../same-entries.ts';
import { rejected } from '../node-plan.ts';
import type { CexAccount, CexAccounts } from './accounts.ts';
import { requireBoundKey } from './binding.ts';
import type { CcxtVenue } from './config.ts';
import type { CexConnection } from './connection.ts';
import type {
  ExchangeTransfer,
  Period,
  SendGuarantee,
  TransferEndOfExchange,
  TransferRecord,
} from './dialect.ts';
import { recordFault, toFault, UnsentFault } from './errors.ts';
import { isAsset, periodSince } from './plan.ts';
import type { ServedExchange } from './served/client.ts';
import { QUESTIONS } from './served/protocol.ts';
import { atRecorded, memberEntry } from './venue-entry.ts';

const POLL_SECONDS = 2;

/**
 * Returns one transfer provider for each bound master, with its sub-accounts; none for a
 * sub-account whose master is not bound, or for an exchange without transfers.
 */
export function createCexTransfers(accounts: CexAccounts): readonly TransferProvider[] {
  return accounts.list().flatMap((master) => {
    const { venue, dialect } = master;
    if (venue.account_role !== 'master' || dialect.transfers === null) return [];
    return [providerOf(master, accounts, dialect.transfers)];
  });
}

/**
 * Returns the scope within which accounts can move funds; null: the account's master is not bound.
 */
export function scopeOf({ venue, master }: CexAccount): string | null {
  return master === null ? null : `ccxt:${venue.exchange}:${master.venue_key}`;
}

function providerOf(
  master: CexAccount,
  accounts: CexAccounts,
  guarantee: SendGuarantee,
): TransferProvider {
  const { venue } = master;
  const scope = scopeOf(master) ?? venue.venue_key;
  const members = accounts.list().filter((each) => scopeOf(each) === scope);
  const ends = members.map((each) => ({
    venue_key: each.venue.venue_key,
    provider: 'ccxt',
    scope,
    role: each.venue.account_role,
    entry: memberEntry(each),
  }));
  const calls =
    master.served === null
      ? callsOf(master, accounts, scope)
      : servedCallsOf(master.served, { venue, members });
  return {
    provider: 'ccxt',
    scope,
    accounts: ends,
    ...guarantee,
    timeout_seconds: venue.timeout_seconds + 5,
    in_process: master.served === null,
    ...ofSameAccounts(calls, ends),
  };
}

type Calls = Pick<TransferProvider, 'submit' | 'find'>;

/**
 * Returns the calls without those of a transfer that was created for other accounts than its venue
 * keys mean now: it is not sent, and what another account shows of it proves nothing.
 */
function ofSameAccounts(calls: Calls, ends: readonly TransferAccount[]): Calls {
  const now = ({ source, destination }: TransferOrder): string => {
    const endAt = (key: string) => ends.find(({ venue_key }) => venue_key === key) ?? {};
    const both = transferEntries(endAt(source.venue_key), endAt(destination.venue_key));
    return both ?? 'no entries of both';
  };
  return {
    submit: async (order, call) => {
      const { venue_entries: made } = order;
      if (!areOther(made, now(order))) return calls.submit(order, call);
      const why = `the transfer was created for [${made}], and the venues file says [${now(order)}] now`;
      return unsent(VENUE_ENTRY_CHANGED, `${why}; check the entries, and create it again`);
    },
    find: async (order, call) => {
      requireSameEntries(order.venue_entries, now(order));
      return atRecorded(order.venue_entries, () => calls.find(order, call));
    },
  };
}

/** The calls of a provider whose keys are in another process, which checks the orders itself. */
function servedCallsOf(
  served: ServedExchange,
  { venue, members }: { readonly venue: CcxtVenue; readonly members: readonly CexAccount[] },
): Calls {
  const aboutOf = ({ source, destination }: TransferOrder, call: CallOptions) => {
    const keys = [venue, source, destination].map(({ venue_key }) => venue_key);
    const accounts = members.filter((each) => keys.includes(each.venue.venue_key));
    return { accounts, call, timeoutSeconds: venue.timeout_seconds + 5 };
  };
  const { venue_key } = venue;
  return {
    submit: async (order, call) => {
      const about = aboutOf(order, call);
      try {
        return (await served.ask(QUESTIONS.submitTransfer, { venue_key, order }, about)).answer;
      } catch (error) {
        if (!(error instanceof UnsentFault)) throw error;
        return { status: 'failed', error_code: error.code, error_message: error.message };
      }
    },
    find: async (order, call) => {
      const about = aboutOf(order, call);
      return (await served.ask(QUESTIONS.findTransfer, { venue_key, order }, about)).answer;
    },
  };
}

function callsOf(master: CexAccount, accounts: CexAccounts, scope: string): Calls {
  const { dialect } = master;
  const read = (order: TransferOrder): ExchangeTransfer => ({
    reference: order.reference,
    source: endOf(accounts, order.source, scope),
    destination: endOf(accounts, order.destination, scope),
    asset: order.asset,
    amount: order.amount,
  });
  return {
    submit: async (order, call) => {
      const transfer = read(order);
      if (!isAsset(order.asset))
        return unsent('ASSET_UNKNOWN', 'the exchange has no asset of this name');
      if (toBaseUnits(order.amount, dialect.transfer_decimals) === null) {
        return unsent(
          'AMOUNT_PRECISION',
          `the exchange moves amounts of at most ${String(dialect.transfer_decimals)} decimals`,
        );
      }
      return sendTransfer(master, transfer, call);
    },
    find: async (order, call) => {
      const since = Date.parse(order.created_at);
      if (Number.isNaN(since))
        throw new ExecutorFault(
          'protocol',
          'CREATED_AT_INVALID',
          'the order has no valid created_at',
        );
      return findTransfer(master, { transfer: read(order), period: periodSince(since) }, call);
    },
  };
}

/**
 * Returns one end of a transfer in the exchange's own names.
 *
 * @throws ExecutorFault `rejected` `VENUE_NOT_BOUND` for an account of another master.
 */
export function endOf(
  accounts: CexAccounts,
  { venue_key, account_type }: TransferEnd,
  scope: string,
): TransferEndOfExchange {
  const account = accounts.get(venue_key);
  if (scopeOf(account) !== scope)
    throw rejected('VENUE_NOT_BOUND', `${venue_key} is not an account of ${scope}`);
  return {
    sub_account: account.venue.account_role === 'master' ? null : account.venue.account,
    account_type,
  };
}

/**
 * Connects with the master's key, for a transfer that is sent or checked with it.
 *
 * @throws ExecutorFault `rejected` `MASTER_MISSING`, and as {@link requireBoundKey}.
 */
export async function connectMaster(
  { dialect, master, ofMaster }: CexAccount,
  call: CallOptions,
): Promise<CexConnection> {
  const connection = await ofMaster();
  if (master !== null) await requireBoundKey(dialect, { connection, venue: master }, call);
  return connection;
}

/**
 * Sends the transfer once. Returns pending with the exchange's id, or failed if the exchange's
 * refusal, or that no request was sent, proves that nothing was moved.
 */
export async function sendTransfer(
  account: CexAccount,
  transfer: ExchangeTransfer,
  call: CallOptions,
): Promise<TransferAnswer> {
  try {
    const master = await connectMaster(account, call);
    return {
      status: 'pending',
      provider_transfer_id: await account.dialect.transfer(master, transfer, call),
      retry_after_seconds: 0.2,
    };
  } catch (error) {
    const fault = toFault(error);
    if (fault.kind !== 'rejected' && !(fault instanceof UnsentFault)) throw fault;
    return { status: 'failed', error_code: fault.code, error_message: fault.message };
  }
}

/**
 * Returns the exchange's record under the transfer's reference, or null.
 *
 * @throws ExecutorFault `TRANSFER_DUPLICATED` for several records, `TRANSFER_MISMATCH` for a record
 *   of another transfer.
 */
export async function findTransfer(
  { dialect, ofMaster }: CexAccount,
  { transfer, period }: { readonly transfer: ExchangeTransfer; readonly period: Period },
  call: CallOptions,
): Promise<TransferAnswer | null> {
  const found = await dialect.findTransfers(await ofMaster(), transfer, period, call);
  const [record] = found;
  if (record === undefined) return null;
  if (found.length > 1) {
    throw recordFault(
      'TRANSFER_DUPLICATED',
      `the exchange shows ${String(found.length)} transfers under one reference`,
      found,
    );
  }
  if (isOf(record, transfer)) return answerOf(record);
  throw recordFault(
    'TRANSFER_MISMATCH',
    "the exchange's record under this reference is of another transfer",
    [record],
  );
}

/**
 * Compares a record with a transfer. A master's account name is not compared: the binding's name
 * may differ from the exchange's.
 */
function isOf(record: TransferRecord, transfer: ExchangeTransfer): boolean {
  const isEnd = (
    end: TransferRecord['source'],
    { sub_account, account_type }: TransferEndOfExchange,
  ): boolean =>
    end.account_type === account_type &&
    (sub_account === null || end.account.toLowerCase() === sub_account.toLowerCase());
  return (
    record.asset === transfer.asset &&
    compare(record.amount, transfer.amount) === 0 &&
    isEnd(record.source, transfer.source) &&
    isEnd(record.destination, transfer.destination)
  );
}

function answerOf({ id, status, exchange_status }: TransferRecord): TransferAnswer {
  if (status === 'completed') return { status, provider_transfer_id: id };
  if (status === 'pending')
    return { status, provider_transfer_id: id, retry_after_seconds: POLL_SECONDS };
  return {
    status,
    provider_transfer_id: id,
    error_code: 'TRANSFER_FAILED',
    error_message: `the exchange ended the transfer: ${exchange_status}`,
  };
}

function unsent(error_code: string, why: string): TransferAnswer {
  return { status: 'failed', error_code, error_message: `${why}; nothing was sent` };
}
