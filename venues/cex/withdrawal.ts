/**
 * `ccxt.withdrawal`: withdraws from an exchange account to an address. The client id comes only
 * from the idempotency key, so any process finds a withdrawal whose answer was lost; where the
 * exchange stores no such id, see `baseline.ts`.
 */
import { z } from 'zod';
import { WITHDRAWAL_FEE_ABOVE_LIMIT } from '../../domain/attention-reasons.ts';
import type {
  CallOptions,
  ExecutionContext,
  ExecutionResult,
  Executor,
  SubmitInput,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { sameAddress } from '../../domain/allowlist/address.ts';
import { add, compare, isPositive, subtract } from '../../domain/money.ts';
import { TERMS } from '../../domain/signing.ts';
import { requirePreparedEntries, requireSameEntries } from '../same-entries.ts';
import { readConfig, readAmount } from '../node-plan.ts';
import { baselineOf, grossAmounts, ownRecord, type Planned } from './baseline.ts';
import { checkAccounts, type CexAccount, type CexAccounts } from './accounts.ts';
import { withdrawalConfigSchema } from './config.ts';
import { sendingDescriptor } from './descriptor.ts';
import type { Dialect, Quote, WithdrawalOrder, WithdrawalRecord } from './dialect.ts';
import { failWhenNotSent, failWhenRefused, RecordFault, recordFault } from './errors.ts';
import {
  checkFeeLimit,
  FEE_VALID_MS,
  feeExpired,
  netAmount,
  requireFeeLimit,
} from './fee-limit.ts';
import {
  checkHistory,
  lifetimeOf,
  readAsset,
  recoverBy,
  requirePrepared,
  stillObserving,
} from './plan.ts';
import { memberEntry } from './venue-entry.ts';
import { checkWithdrawal, networkUnknown } from './withdrawal-checks.ts';

const POLL_SECONDS = 10;
/** Where a key's requests go one at a time: each look uses the budget of sends. */
const SLOW_POLL_SECONDS = 60;

function pollSeconds({ dialect }: CexAccount): number {
  return dialect.growing_nonce ? SLOW_POLL_SECONDS : POLL_SECONDS;
}

/** Returns an executor that stores nothing: the exchange keeps all state of a withdrawal. */
export function createCexWithdrawalExecutor(accounts: CexAccounts): Executor {
  return {
    descriptor: sendingDescriptor(
      'withdrawal',
      accounts.list().map(({ dialect }) => dialect.withdrawals),
    ),
    preflight: (context, call) =>
      failWhenRefused(async () => {
        const { account, order } = plan(accounts, context);
        return checkWithdrawal(account, { order, context }, call);
      }),
    prepare: (context, call) => failWhenRefused(() => prepare(accounts, context, call)),
    submit: (input, call) => submit(accounts, input, call),
    observe: async (context, call) => {
      const { account, order } = plan(accounts, context);
      return (
        (await look(account, { order, context }, call)) ??
        stillObserving(context, pollSeconds(account))
      );
    },
    recover: async (context, call) => {
      const { account, order } = plan(accounts, context);
      return recoverBy(look(account, { order, context }, call), [
        'WITHDRAWAL_DUPLICATED',
        'WITHDRAWAL_MISMATCH',
        WITHDRAWAL_FEE_ABOVE_LIMIT,
        'WITHDRAWAL_AMBIGUOUS',
        'HISTORY_TOO_OLD',
      ]);
    },
    cancel: (context, call) => cancel(accounts, context, call),
    health: (call) => checkAccounts(accounts, { withdraw: true }, call),
  };
}

function plan(
  accounts: CexAccounts,
  context: ExecutionContext,
): { readonly account: CexAccount; readonly order: WithdrawalOrder } {
  const {
    venue,
    network,
    destination_address: address,
    tag = null,
    fee_limit = null,
  } = readConfig(withdrawalConfigSchema, context);
  const account = accounts.get(venue);
  const client_id = account.dialect.withdrawalId(context.idempotency_key);
  return {
    account,
    order: {
      client_id,
      asset: readAsset(context),
      network,
      address,
      tag,
      amount: readAmount(context),
      fee_limit,
    },
  };
}

/** Returns the parameters as they will be sent. */
function preparedOf(
  { venue }: CexAccount,
  { address, fee_limit, ...order }: WithdrawalOrder,
): JsonObject {
  // Actions that earlier releases prepared have no `fee_limit`, and are compared with this.
  const limit = fee_limit === null ? {} : { fee_limit };
  return { venue: venue.venue_key, ...order, ...limit, destination_address: address };
}

/** Reads what the send has to name, and, where the exchange stores no id of ours, the baseline. */
async function prepare(
  accounts: CexAccounts,
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { account, order } = plan(accounts, context);
  const fee_read_at = new Date().toISOString();
  const quote = await quoteOf(account, order, call);
  const isFeeChecked = order.fee_limit !== null && account.dialect.fee_after_send !== true;
  return {
    next_state: 'SUBMITTING',
    prepared_action: {
      ...preparedOf(account, order),
      [TERMS]: memberEntry(account),
      quote: { ...quote },
      ...(isFeeChecked ? { fee_read_at } : {}),
      ...(await baselineOf(account, { order, context }, call)),
    },
  };
}

/**
 * Returns what the send has to name, after a look at the fee, which may have risen since preflight.
 * A quote that names a fee checks that one too.
 */
async function quoteOf(
  { dialect, own }: CexAccount,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<Quote> {
  if (dialect.fee_after_send) requireFeeLimit(order);
  else if (order.fee_limit !== null) {
    const terms = await dialect.withdrawalTerms(await own(), order, call);
    if (terms === null) throw networkUnknown(order);
    checkFeeLimit(terms.fee, order);
  }
  return (await dialect.quote?.(await own(), order, call)) ?? {};
}

/** Actions that earlier releases prepared have no `fee_read_at`. */
const sendTermsSchema = z.object({
  quote: z.record(z.string(), z.string()).nullish(),
  fee_read_at: z.iso.datetime().optional(),
});

/**
 * Sends the prepared withdrawal, the only one approved. Throws if the config has changed; FAILED if
 * the venue key means another account since.
 */
async function submit(
  accounts: CexAccounts,
  { context, prepared_action }: SubmitInput,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { account, order } = plan(accounts, context);
  return failWhenNotSent(async () => {
    // Before the order: another exchange makes another client id of the same key.
    requirePreparedEntries(prepared_action[TERMS], memberEntry(account));
    requirePrepared(prepared_action, preparedOf(account, order));
    // The node may have waited at its fence for long.
    checkHistory(context, account.dialect.withdrawals);
    const { quote, fee_read_at } = sendTermsSchema.parse(prepared_action);
    // The fee may have risen above its limit since then.
    if (fee_read_at !== undefined && Date.now() > Date.parse(fee_read_at) + FEE_VALID_MS)
      throw feeExpired();
    const id = await account.dialect.withdraw(await account.own(), order, quote ?? {}, call);
    return { next_state: 'SUBMITTED' as const, external_ref: id };
  });
}

/**
 * Returns the withdrawal of the send, or null if none is found.
 *
 * @throws ExecutorFault `WITHDRAWAL_DUPLICATED` for several under one client id,
 *   `WITHDRAWAL_MISMATCH` for one that is not as planned, `WITHDRAWAL_AMBIGUOUS` if something may
 *   be ours and nothing proves it: a person must decide. `VENUE_ENTRY_CHANGED` if the venue key
 *   means another account than when the send was prepared.
 */
async function find(
  account: CexAccount,
  planned: Planned,
  call: CallOptions,
): Promise<WithdrawalRecord | null> {
  const { search } = account.dialect;
  const { order, context } = planned;
  requireSameEntries(context.prior?.prepared_action?.[TERMS], memberEntry(account));
  const { client_id, asset } = order;
  const period = lifetimeOf(context);
  const reference = context.prior?.external_ref;
  const query = { client_id, asset, period, order, reference };
  const record =
    search.by === 'client_id'
      ? onlyOne(await search.find(await account.own(), query, call))
      : ownRecord(
          account,
          planned,
          await search.list(await account.own(), { asset, period }, call),
        );
  const difference = record === null ? null : differenceOf(record, order, search.by);
  if (record === null || difference === null) return record;
  throw recordFault(
    'WITHDRAWAL_MISMATCH',
    `the exchange's record of this withdrawal is of another ${difference}`,
    [record],
  );
}

/** Returns in what a record of the send differs from the order; null: in nothing that it shows. */
function differenceOf(
  { asset, address, network, tag, tx_hash }: WithdrawalRecord,
  order: WithdrawalOrder,
  foundBy: Dialect['search']['by'],
): 'asset' | 'address' | 'network' | 'tag' | null {
  if (asset !== order.asset) return 'asset';
  const isToPayee =
    // Found by its own id, it may show no address so far. A booking within the exchange may never
    // show one, since it has left no address.
    (address === '' && (foundBy === 'baseline' || tx_hash === null)) ||
    sameAddress(address, order.address);
  if (!isToPayee) return 'address';
  // Orders and records have the exchange's own names; no two of its networks differ in case alone.
  if (network !== null && network.toLowerCase() !== order.network.toLowerCase()) return 'network';
  return tag !== null && tag !== order.tag ? 'tag' : null;
}

function onlyOne(found: readonly WithdrawalRecord[]): WithdrawalRecord | null {
  if (found.length <= 1) return found[0] ?? null;
  throw recordFault(
    'WITHDRAWAL_DUPLICATED',
    `the exchange shows ${String(found.length)} withdrawals under one client id`,
    found,
  );
}

async function look(
  account: CexAccount,
  planned: Planned,
  call: CallOptions,
): Promise<ExecutionResult | null> {
  const record = await find(account, planned, call);
  return record === null ? null : report(account, record, planned);
}

/** Cancels the withdrawal if the exchange allows that; only the record shows the outcome. */
async function cancel(
  accounts: CexAccounts,
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { account, order } = plan(accounts, context);
  const record = await find(account, { order, context }, call);
  if (record === null) return { next_state: 'SUBMITTING' };
  if (record.status === 'pending')
    await account.dialect.cancelWithdrawal?.(await account.own(), record.id, call);
  return report(account, record, { order, context });
}

function report(
  account: CexAccount,
  record: WithdrawalRecord,
  { order, context }: Planned,
): ExecutionResult {
  const external_ref = record.id;
  if (record.status === 'pending')
    return { next_state: 'OBSERVING', external_ref, retry_after_seconds: pollSeconds(account) };
  if (record.status === 'failed') {
    return {
      next_state: 'FAILED',
      external_ref,
      error_code: 'WITHDRAWAL_FAILED',
      error_message: `the exchange ended the withdrawal: ${record.exchange_status}`,
    };
  }
  checkFigures(account, record, { order, context });
  const output = outputOf(account, record, { order, context });
  return { next_state: 'COMPLETED', external_ref, output };
}

/**
 * Checks what a completed withdrawal cost. Its figures count only now: the fee of a pending one may
 * not be known, or may still change.
 *
 * @throws RecordFault `WITHDRAWAL_MISMATCH` if something else was sent than planned, or if the fee
 *   is in another asset than its limit, `WITHDRAWAL_FEE_ABOVE_LIMIT` for a fee above the limit, or
 *   with which more left than was approved, which no call could prevent: a person must look.
 */
function checkFigures(
  { dialect }: CexAccount,
  record: WithdrawalRecord,
  { order, context }: Planned,
): void {
  const { id, net_amount, fee, asset, fee_asset = asset } = record;
  const { amount, fee_limit } = order;
  const sent = sentAmount(dialect, { order, context });
  if (sent !== null && compare(net_amount, sent) !== 0)
    throw new RecordFault(
      'WITHDRAWAL_MISMATCH',
      `the exchange's record shows ${net_amount} ${asset} as sent, not ${sent}`,
      id,
    );
  if (fee_limit !== null && fee_asset !== asset)
    throw new RecordFault(
      'WITHDRAWAL_MISMATCH',
      `the exchange charged a fee of ${fee} ${fee_asset}, and config.fee_limit is ${fee_limit} ${asset}`,
      id,
    );
  const isAboveLimit = fee_limit !== null && compare(fee, fee_limit) > 0;
  const isBeyondAmount = dialect.fee_on_top && compare(leftBy(record), amount) > 0;
  if (!isAboveLimit && !isBeyondAmount) {
    if (dialect.fee_on_top !== true) requireWhole(record, { order, context });
    return;
  }
  const charged = `the exchange charged a fee of ${fee} ${asset}, and config.fee_limit is ${fee_limit ?? 'not set'}`;
  throw new RecordFault(
    WITHDRAWAL_FEE_ABOVE_LIMIT,
    `${charged}; ${effectOfFee(dialect, record, order)}`,
    id,
  );
}

/**
 * Checks that the amount of the order left the account, with the fee that is kept from it. A
 * booking within the exchange may be of less, by the most that the fee could be: Binance returns
 * its fee to the account, and the other exchanges do not document it.
 *
 * @throws RecordFault `WITHDRAWAL_MISMATCH` if it is none of the amounts that the record may mean,
 *   and no booking that is short of the order by a fee.
 */
function requireWhole(record: WithdrawalRecord, { order, context }: Planned): void {
  const { amount } = order;
  const gross = grossAmounts(record);
  const isLess = gross.every((each) => compare(each, amount) < 0);
  if (gross.some((each) => compare(each, amount) === 0)) return;
  const least = subtract(amount, mostFee({ order, context }));
  if (isLess && record.tx_hash === null && compare(record.net_amount, least) >= 0) return;
  const { id, asset } = record;
  throw new RecordFault(
    'WITHDRAWAL_MISMATCH',
    `the exchange's record shows that ${gross.join(' or ')} ${asset} left the account, not ${amount}`,
    id,
  );
}

/** Returns the most that the fee could be, as the send named it or the plan bounds it; else 0. */
function mostFee({ order, context }: Planned): string {
  const { data } = sendTermsSchema.safeParse(context.prior?.prepared_action);
  // Not the record's fee: with that one, what it shows has been compared.
  return data?.quote?.['max_fee'] ?? order.fee_limit ?? '0';
}

/**
 * Returns what the exchange was to send, to which it adds its fee; null if it keeps its fee from
 * the amount, or if nothing says which fee was expected.
 */
function sentAmount(
  { fee_on_top, fee_after_send }: Dialect,
  { order, context }: Planned,
): string | null {
  if (fee_after_send) return netAmount(order);
  const { data } = sendTermsSchema.safeParse(context.prior?.prepared_action);
  const fee = fee_on_top ? data?.quote?.['fee'] : undefined;
  return fee === undefined ? null : subtract(order.amount, fee);
}

/** Returns what left the account in the record's asset; a fee in another asset is no part of it. */
function leftBy({ net_amount, fee, asset, fee_asset = asset }: WithdrawalRecord): string {
  return fee_asset === asset ? add(net_amount, fee) : net_amount;
}

/** Returns what a fee above its limit means: a fee that is kept from the amount takes no more. */
function effectOfFee(
  { fee_on_top }: Dialect,
  record: WithdrawalRecord,
  { amount }: WithdrawalOrder,
): string {
  const { asset } = record;
  if (!fee_on_top)
    return `it is kept from the ${amount} ${asset} that was approved, so less arrived`;
  const beyond = subtract(leftBy(record), amount);
  const more = isPositive(beyond) ? beyond : '0';
  return `${more} ${asset} more left the account than the ${amount} that was approved`;
}

/**
 * Returns the output, with `received_amount` only if the exchange's figures match the sent amount.
 */
function outputOf(
  { dialect }: CexAccount,
  record: WithdrawalRecord,
  { order, context }: Planned,
): JsonObject {
  const { asset, fee_asset = asset } = record;
  const left = leftBy(record);
  // A lower fee leaves the rest in the account; what was sent has been compared.
  const submitted_amount = dialect.fee_on_top ? left : order.amount;
  const agrees = compare(left, submitted_amount) === 0;
  const within = record.tx_hash === null && compare(record.net_amount, order.amount) === 0;
  return {
    requested_amount: context.amount,
    submitted_amount,
    fee_amount: record.fee,
    fee_asset,
    ...(agrees || within ? { received_amount: record.net_amount } : {}),
    reported_amount: record.net_amount,
    ...(record.tx_hash === null ? {} : { tx_hash: record.tx_hash }),
    exchange_transaction: record.transaction,
    network: record.network,
  };
}
