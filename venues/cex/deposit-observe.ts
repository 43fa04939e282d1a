/**
 * `ccxt.deposit_observe`: waits until an exchange account is credited for a transaction that an
 * earlier node made. Which node is `config.match_from`; what it reported arrives as `matched`.
 */
import { depthFor } from '../../domain/chains/assurance-table.ts';
import {
  COMPLETION_ASSURANCES,
  ExecutorFault,
  type CallOptions,
  type CompletionAssurance,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
} from '../../domain/executor.ts';
import { add } from '../../domain/money.ts';
import { checkAccounts, type CexAccounts } from './accounts.ts';
import { depositObserveConfigSchema } from './config.ts';
import type { DepositRecord } from './dialect.ts';
import { failWhenRefused } from './errors.ts';
import { lifetimeOf, readAsset, readConfig } from './plan.ts';

const POLL_SECONDS = 10;

export const CEX_DEPOSIT_OBSERVE_DESCRIPTOR: ExecutorDescriptor = {
  executor_key: 'ccxt.deposit_observe',
  kind: 'local',
  action_types: ['cex_deposit_observe'],
  provider: 'ccxt',
  same_key_safe: true,
  settle_seconds: 0,
  timeout_seconds: 60,
  in_process: false,
  sends: false,
  not_payees: [],
  // A deposit that the exchange lets go again is final by its own rules.
  completion_assurances: COMPLETION_ASSURANCES,
};

/** Prepare and submit are refused: it has no side effect. */
export function createCexDepositObserveExecutor(accounts: CexAccounts): Executor {
  const refuseSend = () =>
    Promise.reject(
      new ExecutorFault(
        'rejected',
        'PHASE_NOT_SUPPORTED',
        'cex_deposit_observe only observes: use it in an observe node',
      ),
    );
  const observe = (context: ExecutionContext, call: CallOptions) => look(accounts, context, call);
  return {
    descriptor: CEX_DEPOSIT_OBSERVE_DESCRIPTOR,
    preflight: (context) =>
      failWhenRefused(async () => {
        accounts.get(readConfig(depositObserveConfigSchema, context).venue);
        readAsset(context);
        return null;
      }),
    prepare: refuseSend,
    submit: refuseSend,
    observe,
    recover: observe,
    cancel: () => Promise.resolve({ next_state: 'OBSERVING' }),
    health: (call) => checkAccounts(accounts, { withdraw: false }, call),
  };
}

/**
 * COMPLETED with `{tx_hash, received_amount, deposits, network, payments}` once every deposit of
 * the transaction is credited, and free to leave the account where the plan asks for a final one.
 * FAILED `DEPOSIT_REJECTED` when the exchange took none of it.
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
      ...{ source: `cex:${account.venue.venue_key}`, reference: id, amount, total: amount },
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
 * A node's transaction hash, else what an exchange called its booking, else a reference that looks
 * like a hash.
 */
function transactionOf(matched: ExecutionContext['matched']): string | null {
  const { tx_hash, exchange_transaction } = matched?.output ?? {};
  const told = [tx_hash, exchange_transaction].find(
    (each) => typeof each === 'string' && each !== '',
  );
  if (typeof told === 'string') return told;
  const reference = matched?.external_ref;
  return reference !== undefined && /^(0x)?[0-9a-f]{64}$/i.test(reference) ? reference : null;
}
