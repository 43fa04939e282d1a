/**
 * Finds a withdrawal again at an exchange that stores no id of ours. Before the send, the listed
 * withdrawals are the baseline; afterwards, a new one to the same address over the same amount may
 * be ours. It is ours for certain only if nothing else withdraws from the account (`exclusive` of
 * its binding) and the service has no other send whose record is not known. Absence proves nothing.
 */
import { createHash } from 'node:crypto';
import { ExecutorFault, type CallOptions, type ExecutionContext } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { sameAddress } from '../../domain/allowlist/address.ts';
import { add, compare } from '../../domain/money.ts';
import type { CexAccount } from './accounts.ts';
import type { ListedWithdrawal, WithdrawalOrder, WithdrawalRecord } from './dialect.ts';
import { lifetimeOf } from './plan.ts';

export interface Planned {
  readonly order: WithdrawalOrder;
  readonly context: ExecutionContext;
}

/**
 * How much earlier than our fence the exchange's clock may put the record of a send: more than both
 * clocks may differ. What is older is in the baseline, or is the record of another send.
 */
const TOLERANCE_MS = 600_000;
/** Most records that an error message lists. */
const MOST_LISTED = 5;

/**
 * Returns what the prepared action holds for {@link ownRecord}: `send_lane`, in which one send at a
 * time is open, and `known`, the withdrawals to this address that exist already. Both are hashes: a
 * prepared action is searched for addresses, and an exchange's id may look like one. Returns
 * nothing for an exchange that stores our client id.
 */
export async function baselineOf(
  account: CexAccount,
  { order, context }: Planned,
  call: CallOptions,
): Promise<JsonObject> {
  const { search } = account.dialect;
  if (search.by !== 'baseline') return {};
  const { asset, address } = order;
  const period = lifetimeOf(context);
  const listed = await search.list(await account.own(), { asset, period }, call);
  return {
    // Neither tag nor account: not every record shows its tag, and one account may be bound twice.
    send_lane: hash(JSON.stringify([account.venue.exchange, asset, address.toLowerCase()])),
    known: listed
      .filter((each) => each.address === '' || isToPayee(each, order))
      .map(({ id }) => hash(id)),
  };
}

/**
 * Returns the record of the send among the account's withdrawals; null if none can be it.
 *
 * @throws ExecutorFault `WITHDRAWAL_AMBIGUOUS` if a record may be the send's without proof.
 */
export function ownRecord(
  { venue }: CexAccount,
  { order, context }: Planned,
  listed: readonly ListedWithdrawal[],
): ListedWithdrawal | null {
  const reference = context.prior?.external_ref;
  if (reference !== undefined) return listed.find(({ id }) => id === reference) ?? null;
  const { since, references = [], unexplained = 0 } = context.send_lane ?? {};
  const known = context.prior?.prepared_action?.['known'];
  const before = Array.isArray(known) ? known : [];
  const earliest = since === undefined ? 0 : Date.parse(since) - TOLERANCE_MS;
  const candidates = listed.filter(
    (each) =>
      isToPayee(each, order) &&
      grossAmounts(each).some((gross) => compare(gross, order.amount) === 0) &&
      Date.parse(each.at) >= earliest &&
      !references.includes(each.id) &&
      !before.includes(hash(each.id)),
  );
  const [first] = candidates;
  if (first === undefined) return null;
  // Without lane and baseline, as after a restore, the record of another send would look the same.
  const isProof = venue.exclusive && since !== undefined && Array.isArray(known);
  if (candidates.length === 1 && isProof && unexplained === 0) return first;
  throw new ExecutorFault(
    'protocol',
    'WITHDRAWAL_AMBIGUOUS',
    `the exchange stores no id of ours, and ${venue.exclusive ? '' : 'its account is not bound as exclusive, so '}nothing proves which withdrawal is this one; it may be ${shown(candidates)}`,
  );
}

/**
 * Returns every amount that may have left the account. Each of them counts: a candidate too many
 * goes to a person, one too few hides a payment.
 */
export function grossAmounts({
  gross_amounts,
  net_amount,
  fee,
}: Pick<WithdrawalRecord, 'gross_amounts' | 'net_amount' | 'fee'>): readonly string[] {
  return gross_amounts ?? [add(net_amount, fee)];
}

function isToPayee(
  record: Pick<ListedWithdrawal, 'address' | 'tag'>,
  { address, tag }: Pick<WithdrawalOrder, 'address' | 'tag'>,
): boolean {
  // Not every list shows the tag.
  return sameAddress(record.address, address) && (record.tag === null || record.tag === tag);
}

function shown(candidates: readonly ListedWithdrawal[]): string {
  const listed = candidates
    .slice(0, MOST_LISTED)
    .map(({ id, at, exchange_status }) => `${id} of ${at} (${exchange_status})`);
  const more = candidates.length - listed.length;
  return listed.join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
