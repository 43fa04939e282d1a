/**
 * `ccxt.withdrawal`: withdraws from an exchange account to an address. The client id comes only
 * from the idempotency key, so any process finds a withdrawal whose answer was lost; where the
 * exchange stores no such id, see `baseline.ts`.
 */
import { z } from 'zod';
import {
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type SubmitInput,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { sameAddress } from '../../domain/allowlist/address.ts';
import { add, compare } from '../../domain/money.ts';
import { readConfig, readAmount } from '../node-plan.ts';
import { baselineOf, ownRecord, type Planned } from './baseline.ts';
import { checkAccounts, type CexAccount, type CexAccounts } from './accounts.ts';
import { withdrawalConfigSchema } from './config.ts';
import { sendingDescriptor } from './descriptor.ts';
import type { WithdrawalOrder, WithdrawalRecord } from './dialect.ts';
import { failWhenNotSent, failWhenRefused } from './errors.ts';
import { lifetimeOf, readAsset, recoverBy, requirePrepared, stillObserving } from './plan.ts';
import { checkWithdrawal } from './withdrawal-checks.ts';

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
    },
  };
}

/** Returns the parameters as they will be sent. */
function preparedOf({ venue }: CexAccount, { address, ...order }: WithdrawalOrder): JsonObject {
  return { venue: venue.venue_key, ...order, destination_address: address };
}

/** Reads what the send has to name, and, where the exchange stores no id of ours, the baseline. */
async function prepare(
  accounts: CexAccounts,
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { account, order } = plan(accounts, context);
  const quote = (await account.dialect.quote?.(await account.own(), order, call)) ?? {};
  return {
    next_state: 'SUBMITTING',
    prepared_action: {
      ...preparedOf(account, order),
      quote: { ...quote },
      ...(await baselineOf(account, { order, context }, call)),
    },
  };
}

const quoteSchema = z.record(z.string(), z.string());

/** Sends the prepared withdrawal, the only one approved; throws if the config has changed. */
async function submit(
  accounts: CexAccounts,
  { context, prepared_action }: SubmitInput,
  call: CallOptions,
): Promise<ExecutionResult> {
  const { account, order } = plan(accounts, context);
  requirePrepared(prepared_action, preparedOf(account, order));
  return failWhenNotSent(async () => {
    const quote = quoteSchema.parse(prepared_action['quote'] ?? {});
    const id = await account.dialect.withdraw(await account.own(), order, quote, call);
    return { next_state: 'SUBMITTED' as const, external_ref: id };
  });
}

/**
 * Returns the withdrawal of the send, or null if none is found.
 *
 * @throws ExecutorFault `WITHDRAWAL_DUPLICATED` for several under one client id,
 *   `WITHDRAWAL_MISMATCH` for one that is not as planned, `WITHDRAWAL_AMBIGUOUS` if something may
 *   be ours and nothing proves it: a person must decide.
 */
async function find(
  account: CexAccount,
  planned: Planned,
  call: CallOptions,
): Promise<WithdrawalRecord | null> {
  const { search } = account.dialect;
  const { client_id, asset } = planned.order;
  const period = lifetimeOf(planned.context);
  const record =
    search.by === 'client_id'
      ? onlyOne(await search.find(await account.own(), { client_id, asset, period }, call))
      : ownRecord(
          account,
          planned,
          await search.list(await account.own(), { asset, period }, call),
        );
  if (record === null) return null;
  const isToPayee =
    // Found by its own id, it may show no address so far.
    (search.by === 'baseline' && record.address === '') ||
    sameAddress(record.address, planned.order.address);
  if (record.asset === asset && isToPayee) return record;
  throw new ExecutorFault(
    'protocol',
    'WITHDRAWAL_MISMATCH',
    "the exchange's record of this withdrawal is of another asset or address",
  );
}

function onlyOne(found: readonly WithdrawalRecord[]): WithdrawalRecord | null {
  if (found.length <= 1) return found[0] ?? null;
  throw new ExecutorFault(
    'protocol',
    'WITHDRAWAL_DUPLICATED',
    `the exchange shows ${String(found.length)} withdrawals under one client id`,
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
  return { next_state: 'COMPLETED', external_ref, output: outputOf(record, { order, context }) };
}

/**
 * Returns the output, with `received_amount` only if the exchange's figures match the sent amount.
 */
function outputOf(record: WithdrawalRecord, { order, context }: Planned): JsonObject {
  const agrees = compare(add(record.net_amount, record.fee), order.amount) === 0;
  const within = record.tx_hash === null && compare(record.net_amount, order.amount) === 0;
  return {
    requested_amount: context.amount,
    submitted_amount: order.amount,
    fee_amount: record.fee,
    fee_asset: record.asset,
    ...(agrees || within ? { received_amount: record.net_amount } : {}),
    reported_amount: record.net_amount,
    ...(record.tx_hash === null ? {} : { tx_hash: record.tx_hash }),
    exchange_transaction: record.transaction,
    network: record.network,
  };
}
