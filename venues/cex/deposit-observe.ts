/**
 * `ccxt.deposit_observe`: waits until an exchange credits an account for the transaction of an
 * earlier node, which `config.match_from` names; that node's output is passed in as `matched`.
 */
import { depthFor } from '../../domain/chains/assurance-table.ts';
import {
  COMPLETION_ASSURANCES,
  type CallOptions,
  type CompletionAssurance,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { add, compare, readDecimal } from '../../domain/money.ts';
import { readConfig } from '../node-plan.ts';
import { createObserver, observerDescriptor } from '../observer.ts';
import { checkAccounts, type CexAccounts } from './accounts.ts';
import { depositObserveConfigSchema } from './config.ts';
import type { DepositRecord } from './dialect.ts';
import { failWhenRefused } from './errors.ts';
import { lifetimeOf, readAsset } from './plan.ts';

const POLL_SECONDS = 10;

export const CEX_DEPOSIT_OBSERVE_DESCRIPTOR = observerDescriptor({
  executor_key: 'ccxt.deposit_observe',
  action_types: ['cex_deposit_observe'],
  provider: 'ccxt',
  timeout_seconds: 60,
  // By the exchange's own rules a deposit is final once it can be withdrawn again.
  completion_assurances: COMPLETION_ASSURANCES,
});

export function createCexDepositObserveExecutor(accounts: CexAccounts): Executor {
  const observe: Executor['observe'] = (context, call, journal) =>
    look(accounts, context, call, journal);
  return createObserver({
    descriptor: CEX_DEPOSIT_OBSERVE_DESCRIPTOR,
    preflight: (context) =>
      failWhenRefused(async () => {
        accounts.get(readConfig(depositObserveConfigSchema, context).venue);
        readAsset(context);
        return null;
      }),
    observe,
    recover: observe,
    health: (call) => checkAccounts(accounts, { withdraw: false }, call),
  });
}

/**
 * Returns COMPLETED with `{tx_hash, received_amount, deposits, network, payments}` once every
 * deposit of the transaction that is this node's is credited, and withdrawable if the plan requires
 * finality. Returns FAILED `DEPOSIT_REJECTED` when the exchange rejected one of them, and OBSERVING
 * `PAYMENT_AMBIGUOUS` when only a person can say which deposits are this node's.
 */
async function look(
  accounts: CexAccounts,
  context: ExecutionContext,
  call: CallOptions,
  { arrivals }: Pick<SubmitJournal, 'arrivals'>,
): Promise<ExecutionResult> {
  const account = accounts.get(readConfig(depositObserveConfigSchema, context).venue);
  const asset = readAsset(context);
  const transaction = transactionOf(context.matched);
  const waiting: ExecutionResult = { next_state: 'OBSERVING', retry_after_seconds: POLL_SECONDS };
  if (transaction === null) return waiting;
  const found = await account.dialect.findDeposits(
    await account.own(),
    { transaction, asset, period: lifetimeOf(context) },
    call,
  );
  const source = `cex:${account.venue.venue_key}`;
  const free = found.length > 1 ? await unclaimed(found, source, arrivals) : found;
  const own = ownOf(found, free, context.matched);
  if (own === null) return { ...waiting, ...undecided(free) };
  const [first] = own;
  if (first === undefined) return waiting;
  const rejected = own.find(({ status }) => status === 'failed');
  if (rejected !== undefined) {
    return {
      next_state: 'FAILED',
      error_code: 'DEPOSIT_REJECTED',
      error_message: `the exchange did not credit the deposit: ${rejected.exchange_status}`,
    };
  }
  if (!own.every((deposit) => isEnough(deposit, context.completion_assurance))) return waiting;
  const received_amount = totalOf(own);
  const output = {
    tx_hash: transaction,
    received_amount,
    deposits: own.length,
    network: first.network,
    payments: own.map(({ id, amount }) => ({ source, reference: id, amount, total: amount })),
  };
  const assurance = own.every(({ status }) => status === 'completed')
    ? 'protocol_finalized'
    : 'destination_credited';
  return { next_state: 'COMPLETED', external_ref: first.id, output, assurance };
}

/** Returns the deposits that no other node has claimed. */
async function unclaimed(
  found: readonly DepositRecord[],
  source: string,
  arrivals: SubmitJournal['arrivals'],
): Promise<readonly DepositRecord[]> {
  // Claims are stored in lower case.
  const references = found.map(({ id }) => id.toLowerCase());
  const claimed = (await arrivals?.claimed(source.toLowerCase(), references)) ?? [];
  const others = claimed.filter(({ own }) => !own).map(({ reference }) => reference);
  return found.filter(({ id }) => !others.includes(id.toLowerCase()));
}

/**
 * Returns the deposits that are this node's; null if only a person can say which they are. Since
 * exchanges batch withdrawals, one transaction may also pay what other nodes wait for: of several
 * deposits, this node's is the only one over the amount that the matched node reports, or all that
 * are left if they add up to it.
 */
function ownOf(
  found: readonly DepositRecord[],
  free: readonly DepositRecord[],
  matched: ExecutionContext['matched'],
): readonly DepositRecord[] | null {
  // If others have claimed all of them, the write of the completion says so.
  if (found.length <= 1 || free.length === 0) return found;
  const sent = readDecimal(matched?.output?.['received_amount']);
  if (sent === null) return free.length === 1 ? free : null;
  const exact = free.filter(({ amount }) => compare(amount, sent) === 0);
  if (exact.length === 1) return exact;
  return compare(totalOf(free), sent) === 0 ? free : null;
}

function totalOf(deposits: readonly DepositRecord[]): string {
  return deposits.reduce((sum, { amount }) => add(sum, amount), '0');
}

/** Returns what the operator needs who decides. */
function undecided(
  free: readonly DepositRecord[],
): Pick<ExecutionResult, 'output' | 'error_code' | 'error_message'> {
  return {
    output: { unclaimed: free.map(({ id }) => id) },
    error_code: 'PAYMENT_AMBIGUOUS',
    error_message: `the transaction brought several deposits, and the amount that was sent does not show which of the ${String(free.length)} unclaimed ones belong to this node: a person must decide`,
  };
}

function isEnough({ status }: DepositRecord, assurance: CompletionAssurance): boolean {
  return status === 'completed' || (status === 'credited' && depthFor(assurance) === 'confirmed');
}

/**
 * Returns the matched node's transaction hash, else the exchange's id of its booking, else its
 * reference if that looks like a hash; null if the node has none of them.
 */
export function transactionOf(
  matched:
    | {
        readonly external_ref?: string | null | undefined;
        readonly output?: JsonObject | null | undefined;
      }
    | null
    | undefined,
): string | null {
  const { tx_hash, exchange_transaction } = matched?.output ?? {};
  const reported = [tx_hash, exchange_transaction].find(
    (each) => typeof each === 'string' && each !== '',
  );
  if (typeof reported === 'string') return reported;
  const reference = matched?.external_ref;
  return typeof reference === 'string' && /^(0x)?[0-9a-f]{64}$/i.test(reference) ? reference : null;
}
