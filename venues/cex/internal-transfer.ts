/**
 * `ccxt.internal_transfer`: moves funds within the exchange, between accounts of one master or
 * between an account's pools.
 */
import { brokenRule, TOPOLOGY_RULES } from '../../domain/capital-transfers/topology.ts';
import type { TransferAnswer } from '../../domain/capital-transfers/provider.ts';
import {
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type SubmitInput,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { compare, normalize, toBaseUnits } from '../../domain/money.ts';
import { TERMS } from '../../domain/signing.ts';
import { requirePreparedEntries } from '../same-entries.ts';
import { rejected, readConfig, readAmount } from '../node-plan.ts';
import { hashedId } from './client-id.ts';
import { checkAccounts, type CexAccount, type CexAccounts } from './accounts.ts';
import { internalTransferConfigSchema, type InternalTransferConfig } from './config.ts';
import { sendingDescriptor } from './descriptor.ts';
import type { ExchangeTransfer, SendGuarantee } from './dialect.ts';
import { failWhenRefused } from './errors.ts';
import {
  checkAssurance,
  checkHistory,
  lifetimeOf,
  readAsset,
  recoverBy,
  requirePrepared,
  stillObserving,
} from './plan.ts';
import { connectMaster, endOf, findTransfer, scopeOf, sendTransfer } from './account-transfers.ts';
import { endEntries, requireSameEnds } from './venue-entry.ts';

const POLL_SECONDS = 2;

/**
 * Returns the executor. Both ends are accounts of the exchange, so a completed transfer shows that
 * the destination is credited.
 */
export function createCexInternalTransferExecutor(accounts: CexAccounts): Executor {
  const look = async (context: ExecutionContext, call: CallOptions) => {
    requireSameEnds(accounts, context);
    const { source, transfer } = plan(accounts, context);
    const answer = await findTransfer(source, { transfer, period: lifetimeOf(context) }, call);
    return answer === null ? null : report(answer, context);
  };
  return {
    descriptor: sendingDescriptor(
      'internal_transfer',
      accounts.list().flatMap(({ dialect }) => dialect.transfers ?? []),
    ),
    preflight: (context, call) =>
      failWhenRefused(async () => {
        await check(plan(accounts, context), context, call);
        return null;
      }),
    prepare: (context) =>
      failWhenRefused(async () => {
        const planned = plan(accounts, context);
        const prepared_action = { ...preparedOf(planned), [TERMS]: planned.entries };
        return { next_state: 'SUBMITTING' as const, prepared_action };
      }),
    submit: (input, call) => submit(accounts, input, call),
    observe: async (context, call) =>
      (await look(context, call)) ?? stillObserving(context, POLL_SECONDS),
    recover: (context, call) =>
      recoverBy(look(context, call), [
        'TRANSFER_DUPLICATED',
        'TRANSFER_MISMATCH',
        'HISTORY_TOO_OLD',
      ]),
    // The exchange makes a transfer at once or never, so cancel only reads its state.
    cancel: async (context, call) => (await look(context, call)) ?? { next_state: 'SUBMITTING' },
    health: (call) => checkAccounts(accounts, { withdraw: false }, call),
  };
}

interface Planned {
  readonly config: InternalTransferConfig;
  readonly source: CexAccount;
  readonly transfer: ExchangeTransfer;
  /** Which accounts both ends are. */
  readonly entries: string | null;
  readonly guarantee: SendGuarantee;
}

function plan(accounts: CexAccounts, context: ExecutionContext): Planned {
  const config = readConfig(internalTransferConfigSchema, context);
  const source = accounts.get(config.venue);
  const destination = accounts.get(config.destination_venue);
  const scope = scopeOf(source);
  const { transfers: guarantee } = source.dialect;
  if (guarantee === null)
    throw rejected(
      'TRANSFERS_NOT_SUPPORTED',
      `${source.venue.exchange} has no transfers between accounts that could be found again`,
    );
  if (scope === null)
    throw rejected('MASTER_MISSING', `the master account of ${config.venue} is not bound`);
  const side = (account: CexAccount, account_type: InternalTransferConfig['account_type']) => ({
    account: { venue_key: account.venue.venue_key, role: account.venue.account_role },
    account_type,
  });
  const rule = brokenRule(
    side(source, config.account_type),
    side(destination, config.destination_account_type),
  );
  if (rule !== null) throw rejected('TOPOLOGY_NOT_SUPPORTED', TOPOLOGY_RULES[rule]);
  const transfer = {
    reference: hashedId(context.idempotency_key),
    source: endOf(accounts, { venue_key: config.venue, account_type: config.account_type }, scope),
    destination: endOf(
      accounts,
      { venue_key: config.destination_venue, account_type: config.destination_account_type },
      scope,
    ),
    asset: readAsset(context),
    amount: readAmount(context),
  };
  return { config, source, transfer, entries: endEntries(accounts, config), guarantee };
}

async function check(
  { config, source, transfer, guarantee }: Planned,
  context: ExecutionContext,
  call: CallOptions,
): Promise<void> {
  const { dialect, venue } = source;
  checkAssurance(context, 'destination_credited');
  checkHistory(context, guarantee);
  if (toBaseUnits(transfer.amount, dialect.transfer_decimals) === null) {
    throw rejected(
      'AMOUNT_PRECISION',
      `the exchange moves amounts of at most ${String(dialect.transfer_decimals)} decimals`,
    );
  }
  const types = [config.account_type];
  const master = await connectMaster(source, call);
  const pools =
    transfer.source.sub_account === null
      ? await dialect.balances(master, types, call)
      : await dialect.subBalances(
          master,
          { sub_account: transfer.source.sub_account, types },
          call,
        );
  const free = pools.find(({ asset }) => asset === transfer.asset)?.withdrawable ?? '0';
  if (compare(free, transfer.amount) >= 0) return;
  throw rejected(
    'INSUFFICIENT_FUNDS',
    `${venue.venue_key} has ${free} ${transfer.asset} of the ${transfer.amount} to be moved`,
  );
}

function preparedOf({ config, transfer }: Planned): JsonObject {
  const { reference, asset, amount } = transfer;
  return { reference, ...config, asset, amount };
}

async function submit(
  accounts: CexAccounts,
  { context, prepared_action }: SubmitInput,
  call: CallOptions,
): Promise<ExecutionResult> {
  const planned = plan(accounts, context);
  return failWhenRefused(async (): Promise<ExecutionResult> => {
    requirePreparedEntries(prepared_action[TERMS], planned.entries);
    requirePrepared(prepared_action, preparedOf(planned));
    // The node may have waited at its fence for long.
    checkHistory(context, planned.guarantee);
    const answer = await sendTransfer(planned.source, planned.transfer, call);
    return answer.status === 'pending'
      ? { next_state: 'SUBMITTED', ...reference(answer) }
      : report(answer, context);
  });
}

function report(answer: TransferAnswer, context: ExecutionContext): ExecutionResult {
  switch (answer.status) {
    case 'pending':
      return {
        next_state: 'OBSERVING',
        ...reference(answer),
        retry_after_seconds: answer.retry_after_seconds ?? POLL_SECONDS,
      };
    case 'failed':
      return {
        next_state: 'FAILED',
        ...reference(answer),
        error_code: answer.error_code,
        error_message: answer.error_message,
      };
    case 'completed': {
      const amount = normalize(context.amount);
      const output = {
        requested_amount: context.amount,
        submitted_amount: amount,
        fee_amount: '0',
        fee_asset: context.asset,
        received_amount: amount,
        exchange_transaction: answer.provider_transfer_id ?? null,
      };
      return {
        next_state: 'COMPLETED',
        ...reference(answer),
        output,
        assurance: 'destination_credited',
      };
    }
  }
}

function reference({ provider_transfer_id }: TransferAnswer): { readonly external_ref?: string } {
  return provider_transfer_id === undefined ? {} : { external_ref: provider_transfer_id };
}
