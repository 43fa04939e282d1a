/**
 * Compares our records with those of an exchange's own books. A withdrawal or transfer is ours by
 * the client id that we sent, a deposit by the transaction that its node looks for; amounts never
 * decide whose a record is.
 */
import { sameAddress } from '../allowlist/address.ts';
import { plainTransaction } from '../chains/transaction.ts';
import { add, compare, subtract } from '../money.ts';
import type { OurRecord, VenueRecord, VenueRecordKind } from './records.ts';

/**
 * - `ours`: the exchange's record agrees with ours.
 * - `foreign`: the exchange has it, and nothing of ours names it.
 * - `missing`: the exchange must have it by our state, and does not.
 * - `differs`: both have it, and it is not the same.
 * - `open`: the exchange has no record, and by our state it need not have one.
 */
export const VERDICTS = ['ours', 'foreign', 'missing', 'differs', 'open'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** In the order in which differences are listed. */
export const COMPARED_FIELDS = [
  'status',
  'asset',
  'amount',
  'fee',
  'network',
  'address',
  'tag',
  'source',
  'destination',
] as const;

export interface Difference {
  /** `records`: the exchange has several records under one client id. */
  readonly field: (typeof COMPARED_FIELDS)[number] | 'records';
  readonly ours: string | null;
  readonly theirs: string | null;
}

export interface ReconciledLine {
  readonly verdict: Verdict;
  /** Empty unless the verdict is `differs`. */
  readonly differences: readonly Difference[];
  /** Null for a foreign record. */
  readonly ours: OurRecord | null;
  /** Several deposits of one transaction, or several records under one client id; else one. */
  readonly records: readonly VenueRecord[];
}

export interface Reconciliation {
  readonly counts: Readonly<Record<Verdict, number>>;
  /** The oldest first. */
  readonly lines: readonly ReconciledLine[];
}

/** What is compared. */
export interface Scope {
  /** Milliseconds since 1970; the end does not belong to it. */
  readonly from: number;
  readonly to: number;
  /** The kinds that these books contain: those of a sub-account have no transfers. */
  readonly kinds: readonly VenueRecordKind[];
}

/**
 * How far beyond both ends of the period both sides are read. What we sent just before an end may
 * have its record just behind it.
 */
export const MARGIN_MS = 86_400_000;

/**
 * Compares all records of both sides whose time may lie in the period widened by
 * {@link MARGIN_MS}. Lists the exchange's records of the period, each with ours, and those of ours
 * that have no record.
 */
export function reconcile(
  ours: readonly OurRecord[],
  theirs: readonly VenueRecord[],
  scope: Scope,
): Reconciliation {
  const found = new Map<string, VenueRecord[]>();
  const unnamed: VenueRecord[] = [];
  for (const record of theirs) {
    const key = keyOf(record);
    if (key === null) unnamed.push(record);
    else found.set(key, [...(found.get(key) ?? []), record]);
  }
  const lines = byExpectation(ours).flatMap((our): readonly ReconciledLine[] => {
    const key = keyOf(our);
    const records = key === null ? [] : (found.get(key) ?? []);
    if (records.length === 0) return unrecorded(our, scope);
    // A record belongs to one of ours: what two nodes wait for can complete only one of them.
    if (key !== null) found.delete(key);
    if (!records.some((record) => isWithin(record.at, scope))) return [];
    const differences = differencesOf(our, records);
    const verdict = differences.length > 0 ? 'differs' : 'ours';
    return [{ verdict, differences, ours: our, records }];
  });
  const foreign = [...unnamed, ...[...found.values()].flat()]
    .filter((record) => isWithin(record.at, scope))
    .map((record) => lineOf('foreign', null, [record]));
  const all = [...lines, ...foreign].sort((left, right) => timeOf(left) - timeOf(right));
  const counts = { ours: 0, foreign: 0, missing: 0, differs: 0, open: 0 };
  for (const { verdict } of all) counts[verdict] += 1;
  return { counts, lines: all };
}

/** Returns what identifies a record on both sides; null: nothing does. */
function keyOf({
  kind,
  client_id,
  transaction,
  asset,
}: Pick<VenueRecord, 'kind' | 'client_id' | 'transaction' | 'asset'>): string | null {
  if (kind !== 'deposit') return client_id === null ? null : JSON.stringify([kind, client_id]);
  return transaction === null ? null : JSON.stringify([kind, plainTransaction(transaction), asset]);
}

/** Whether the exchange has a record, by our state alone. */
type Expectation = 'must' | 'may' | 'must_not';

function expectationOf(our: OurRecord): Expectation {
  const { kind, state } = our;
  if (state === 'FAILED' || state === 'CANCELLED') return 'must_not';
  // The lists of the exchange's transfers are those of the accounts that are bound now.
  if (kind === 'transfer' && (our.source === null || our.destination === null)) return 'may';
  // A person may have completed the node without naming a transaction.
  if (kind === 'deposit' && our.transaction === null) return 'may';
  switch (state) {
    case 'COMPLETED':
      return 'must';
    case 'SUBMITTED':
    case 'OBSERVING':
      // A deposit's node observes from its start until the deposit arrives.
      return kind === 'deposit' ? 'may' : 'must';
    case 'PENDING_PROVIDER_CONFIRMATION':
      return our.external_ref === null ? 'may' : 'must';
    default:
      return 'may';
  }
}

const EXPECTATIONS: readonly Expectation[] = ['must', 'may', 'must_not'];

/** Returns our records, those first that the exchange must have. */
function byExpectation(ours: readonly OurRecord[]): readonly OurRecord[] {
  const rank = (our: OurRecord): number => EXPECTATIONS.indexOf(expectationOf(our));
  return [...ours].sort((left, right) => rank(left) - rank(right));
}

/**
 * Returns the line of a record that the exchange does not have; none if it belongs to another
 * period. Only what was certainly sent within the time that was read is missing.
 */
function unrecorded(our: OurRecord, scope: Scope): readonly ReconciledLine[] {
  const { kind, since, until } = our;
  if (!scope.kinds.includes(kind)) return [];
  const required = expectationOf(our) === 'must' && until !== null;
  if (!isWithin(since, scope) && !(required && isWithin(until, scope))) return [];
  const wasRead =
    required &&
    Date.parse(since) >= scope.from - MARGIN_MS &&
    Date.parse(until) <= scope.to + MARGIN_MS;
  return [lineOf(wasRead ? 'missing' : 'open', our, [])];
}

function lineOf(
  verdict: Verdict,
  ours: OurRecord | null,
  records: readonly VenueRecord[],
): ReconciledLine {
  return { verdict, differences: [], ours, records };
}

function isWithin(at: string, { from, to }: Scope): boolean {
  const time = Date.parse(at);
  return time >= from && time < to;
}

function timeOf({ ours, records: [first] }: ReconciledLine): number {
  return Date.parse(first?.at ?? ours?.since ?? '');
}

function differencesOf(our: OurRecord, records: readonly VenueRecord[]): readonly Difference[] {
  if (our.kind !== 'deposit' && records.length > 1)
    return [{ field: 'records', ours: '1', theirs: String(records.length) }];
  const record = records.reduce(together);
  return COMPARED_FIELDS.filter((field) => !AGREES[field](our, record)).map((field) =>
    field === 'status'
      ? { field, ours: our.state, theirs: record.status }
      : { field, ours: our[field], theirs: record[field] },
  );
}

const STATUSES = ['failed', 'pending', 'credited', 'completed'] as const;

/** Returns two deposits of one transaction as one; a node completes once all are credited. */
function together(one: VenueRecord, other: VenueRecord): VenueRecord {
  const status =
    STATUSES.find((each) => each === one.status || each === other.status) ?? one.status;
  return { ...one, status, amount: add(one.amount, other.amount) };
}

/** What one side does not know is not compared. */
const isSame = (ours: string | null, theirs: string | null): boolean =>
  ours === null || theirs === null || ours === theirs;

const AGREES: Readonly<
  Record<(typeof COMPARED_FIELDS)[number], (our: OurRecord, record: VenueRecord) => boolean>
> = {
  status(our, { status }) {
    if (expectationOf(our) === 'must_not') return status === 'failed';
    // A node or transfer that is under way has not looked at the record yet.
    return our.state !== 'COMPLETED' || status === 'completed' || status === 'credited';
  },
  asset: (our, record) => our.asset === record.asset,
  amount: amountAgrees,
  fee: (our, record) => our.fee === null || compare(our.fee, record.fee ?? '0') === 0,
  network: (our, record) => isSame(our.network, record.network),
  address: (our, record) =>
    our.address === null || record.address === null || sameAddress(our.address, record.address),
  // A payment without its tag is lost, so a tag that one side lacks is a difference.
  tag: (our, record) => our.address === null || record.address === null || our.tag === record.tag,
  source: (our, record) => isSame(our.source, record.source),
  destination: (our, record) => isSame(our.destination, record.destination),
};

function amountAgrees(our: OurRecord, { amount, fee }: VenueRecord): boolean {
  if (our.amount === null) return true;
  if (our.fee_limit !== undefined) {
    const left = add(subtract(our.amount, our.fee_limit), fee ?? '0');
    return compare(fee ?? '0', our.fee_limit) <= 0 && compare(left, amount) === 0;
  }
  if (compare(our.amount, amount) === 0) return true;
  // A fee that the exchange returns, of a withdrawal within it whose node has no output yet.
  return (
    our.kind === 'withdrawal' &&
    our.fee === null &&
    fee !== null &&
    compare(our.amount, add(amount, fee)) === 0
  );
}
