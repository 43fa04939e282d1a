/** Compares our records with an exchange's own books, and reports what does not agree. */
import { ExecutorFault } from '../../domain/executor.ts';
import { MARGIN_MS, reconcile, type Reconciliation } from '../../domain/reconcile/match.ts';
import {
  VENUE_RECORD_KINDS,
  type OurRecord,
  type OurTransferSide,
  type StoredRecord,
  type VenueRecord,
  type VenueRecordKind,
} from '../../domain/reconcile/records.ts';
import { createLocalRequestDesk } from '../../platform/request-desk.ts';
import { readOurRecords, type OurRecordsQuery } from '../../store/reconcile.ts';
import { createRequestDesk } from '../../store/request-desk.ts';
import { setting, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { linesAsCsv } from './csv.ts';

export const FORMATS = ['json', 'csv'] as const;

export interface ReconcileOptions extends DatabaseOption {
  readonly venue: string;
  readonly from: Date;
  readonly to: Date;
  readonly format: (typeof FORMATS)[number];
  readonly venuesFile?: string;
}

/** The books of one account at its exchange, and the exchange's names for what is ours. */
export interface ExchangeBooks {
  /** The accounts whose transfers these books contain; empty: they contain none. */
  readonly family: readonly string[];
  /** Whether the exchange adds a fee that is only known afterwards, so that its limit counts. */
  readonly feeAfterSend: boolean;
  /** Returns the client id that was sent; null for a deposit. */
  clientId(record: StoredRecord): string | null;
  /** Returns the name of a transfer's side; null for an account that is not in the family. */
  sideName(side: OurTransferSide): string | null;
  /** Reads every record of a period, in milliseconds since 1970, with both ends. */
  read(period: { readonly from: number; readonly to: number }): Promise<readonly VenueRecord[]>;
}

/** What the comparison reads; tests replace it. */
export interface Sources {
  open(options: ReconcileOptions, io: ToolIo): Promise<ExchangeBooks>;
  /** Returns up to `limit` records of each kind of source. */
  ours(
    options: ReconcileOptions,
    io: ToolIo,
    about: { readonly query: OurRecordsQuery; readonly limit: number },
  ): Promise<readonly StoredRecord[]>;
}

const SOURCES: Sources = {
  open: openBooks,
  ours: (options, io, { query, limit }) =>
    withDatabase(options, io, (db) => readOurRecords(db, query, limit)),
};

/** An exchange lists a record only some time after it was made. */
const SETTLED_MS = 600_000;
/** Most records of either side, which are held in memory. */
const MOST = 200_000;

/**
 * Prints the comparison. Throws a {@link ToolError} with exit status 1 if a record is missing at
 * the exchange or differs, and with 2 if the options name nothing that can be compared.
 */
export async function reconcileVenue(
  options: ReconcileOptions,
  io: ToolIo,
  sources: Sources = SOURCES,
): Promise<void> {
  const { venue, from, to, format } = options;
  if (from >= to) throw new ToolError('--from must be before --to.', { exitCode: 2 });
  if (to.getTime() > Date.now() - SETTLED_MS)
    throw new ToolError(
      '--to must be at least ten minutes ago: an exchange lists a record only some time after it was made.',
      { exitCode: 2 },
    );
  const result = await compareBooks(options, io, sources);
  io.out(
    format === 'csv'
      ? linesAsCsv(result.lines)
      : `${JSON.stringify({ venue, from: from.toISOString(), to: to.toISOString(), ...result }, null, 2)}\n`,
  );
  const { missing, differs } = result.counts;
  if (missing + differs > 0)
    throw new ToolError(
      `The books of ${venue} do not agree with ours: missing ${String(missing)}, different ${String(differs)}.`,
    );
}

async function compareBooks(
  options: ReconcileOptions,
  io: ToolIo,
  { open, ours }: Sources,
): Promise<Reconciliation> {
  const period = { from: options.from.getTime(), to: options.to.getTime() };
  const wide = { from: period.from - MARGIN_MS, to: period.to + MARGIN_MS };
  const books = await open(options, io);
  const query = {
    venue_key: options.venue,
    family: books.family,
    since: new Date(wide.from).toISOString(),
    before: new Date(wide.to).toISOString(),
  };
  // Ours first: whatever we knew as sent by then, the exchange must show afterwards.
  const stored = withinBound(await ours(options, io, { query, limit: MOST + 1 }), 'The database');
  const theirs = withinBound(await books.read(wide), 'The exchange');
  const kinds: readonly VenueRecordKind[] =
    books.family.length > 0
      ? VENUE_RECORD_KINDS
      : VENUE_RECORD_KINDS.filter((kind) => kind !== 'transfer');
  const named = stored.map((record) => withNames(record, books));
  return reconcile(named, theirs, { ...period, kinds });
}

function withinBound<T>(records: readonly T[], holder: string): readonly T[] {
  if (records.length <= MOST) return records;
  throw new ToolError(
    `${holder} has more than ${String(MOST)} records in that time. Choose a shorter time.`,
    { exitCode: 2 },
  );
}

/** Returns our record with the exchange's names. */
function withNames(record: StoredRecord, books: ExchangeBooks): OurRecord {
  const { send_key: _key, source, destination, fee_limit, ...fields } = record;
  const side = (of: OurTransferSide | null) => (of === null ? null : books.sideName(of));
  return {
    ...fields,
    ...(books.feeAfterSend && fee_limit !== undefined ? { fee_limit } : {}),
    client_id: books.clientId(record),
    source: side(source),
    destination: side(destination),
  };
}

async function openBooks(options: ReconcileOptions, io: ToolIo): Promise<ExchangeBooks> {
  const { venue, venuesFile } = options;
  const file = venuesFile ?? setting(io, 'SVC_VENUES_FILE');
  if (file === undefined)
    throw new ToolError(
      'Name the venues file of the service in --venues-file or SVC_VENUES_FILE.',
      { exitCode: 2 },
    );
  // Loaded only here, since few commands need the venues.
  const { loadVenueBindings, VenueBindingsError } = await import('../../venues/bindings.ts');
  const { cex } = await import('../../venues/cex/index.ts');
  const { createCexAccounts } = await import('../../venues/cex/accounts.ts');
  const { expectedClientId, readVenueRecords } = await import('../../venues/cex/records.ts');
  const bindings = await loadVenueBindings(file).catch((error: unknown) => {
    if (!(error instanceof VenueBindingsError)) throw error;
    throw new ToolError(error.message, { exitCode: 2, cause: error });
  });
  const accounts = cex.entries(bindings);
  const account = accounts.find(({ venue_key }) => venue_key === venue);
  if (account === undefined) {
    const known = accounts.map(({ venue_key }) => venue_key).join(', ');
    throw new ToolError(
      `${venue} is not a bound exchange account. Bound are: ${known === '' ? 'none' : known}.`,
      { exitCode: 2 },
    );
  }
  // The transfers of a sub-account are in the books of its master.
  const family =
    account.account_role === 'sub'
      ? []
      : accounts.filter((each) => each.venue_key === venue || each.master === venue);
  // Only for the exchange's names; nothing is sent through it.
  const names = createCexAccounts(accounts, createLocalRequestDesk());
  return {
    family: family.map(({ venue_key }) => venue_key),
    feeAfterSend: names.get(venue).dialect.fee_after_send === true,
    clientId({ kind, send_key, transfer_id, external_ref }) {
      if (send_key === null || kind === 'deposit') return null;
      const transfer = transfer_id === null ? 'node_transfer' : 'capital_transfer';
      const sent = kind === 'withdrawal' ? kind : transfer;
      return expectedClientId(names, venue, { kind: sent, key: send_key, external_ref });
    },
    sideName({ venue_key, account_type }) {
      const side = family.find((each) => each.venue_key === venue_key);
      if (side === undefined) return null;
      return `${side.account_role === 'master' ? '' : side.account}:${account_type}`;
    },
    async read(period) {
      const call = { signal: new AbortController().signal };
      try {
        // The running service uses the same key, so both share its budget and nonces.
        return await withDatabase(options, io, async (db) => {
          const opened = createCexAccounts(accounts, createRequestDesk(db));
          return readVenueRecords(opened, venue, period, call).finally(opened.close);
        });
      } catch (error) {
        throw readFault(error);
      }
    },
  };
}

/** The faults of the exchange that other options or another binding avoid. */
const AVOIDABLE = ['HISTORY_TOO_OLD', 'CREDENTIALS_MISSING'];

function readFault(error: unknown): unknown {
  if (!(error instanceof ExecutorFault)) return error;
  const margin =
    error.code === 'HISTORY_TOO_OLD' ? ' A day before --from is read too: choose a later one.' : '';
  return new ToolError(
    `The books of the exchange cannot be read (${error.code}): ${error.message}.${margin}`,
    { exitCode: AVOIDABLE.includes(error.code) ? 2 : 1, cause: error },
  );
}
