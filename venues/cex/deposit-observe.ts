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
} from '../../domain/executor.ts';
import { add } from '../../domain/money.ts';
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
  const observe = (context: ExecutionContext, call: CallOptions) => look(accounts, context, call);
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
 * deposit of the transaction is credited, and withdrawable if the plan requires finality. Returns
 * FAILED `DEPOSIT_REJECTED` when the exchange rejected one of the deposits.
 */
async function look(
  accounts: CexAccounts,
  context: ExecutionContext,
  call: CallOptions,
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
  const [first] = found;
  if (first === undefined) return waiting;
  const rejected = found.find(({ status }) => status === 'failed');
  if (rejected !== undefined) {
    return {
      next_state: 'FAILED',
      error_code: 'DEPOSIT_REJECTED',
      error_message: `the exchange did not credit the deposit: ${rejected.exchange_status}`,
    };
  }
  if (!found.every((deposit) => isEnough(deposit, context.completion_assurance))) return waiting;
  const received_amount = found.reduce((sum, { amount }) => add(sum, amount), '0');
  const output = {
    tx_hash: transaction,
    received_amount,
    deposits: found.length,
    network: first.network,
    payments: found.map(({ id, amount }) => ({
      source: `cex:${account.venue.venue_key}`,
      reference: id,
      amount,
      total: amount,
    })),
  };
  const assurance = found.every(({ status }) => status === 'completed')
    ? 'protocol_finalized'
    : 'destination_credited';
  return { next_state: 'COMPLETED', external_ref: first.id, output, assurance };
}

function isEnough({ status }: DepositRecord, assurance: CompletionAssurance): boolean {
  return status === 'completed' || (status === 'credited' && depthFor(assurance) === 'confirmed');
}

/**
 * Returns the matched node's transaction hash, else the exchange's id of its booking, else its
 * reference if that looks like a hash; null if the node has none of them.
 */
function transactionOf(matched: ExecutionContext['matched']): string | null {
  const { tx_hash, exchange_transaction } = matched?.output ?? {};
  const reported = [tx_hash, exchange_transaction].find(
    (each) => typeof each === 'string' && each !== '',
  );
  if (typeof reported === 'string') return reported;
  const reference = matched?.external_ref;
  return reference !== undefined && /^(0x)?[0-9a-f]{64}$/i.test(reference) ? reference : null;
}
