/** Reads the books of an account of Coinbase: the transactions of each of its assets' accounts. */
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import type { VenueRecord } from '../../../../domain/reconcile/records.ts';
import type { CexConnection } from '../../connection.ts';
import type { Period } from '../../dialect.ts';
import { readAccounts } from './accounts.ts';
import { isDeposit } from './deposits.ts';
import { statusOf } from './states.ts';
import {
  addressOf,
  isDebit,
  MISMATCH,
  networkOf,
  readTransactions,
  shownFee,
  sizeOf,
  type Transaction,
} from './transactions.ts';
import { withdrawalRecord } from './withdrawals.ts';

/** Types that move funds between accounts within Coinbase (docs/coinbase-facts.md, 10). */
const TRANSFERS: readonly string[] = [
  ...['transfer', 'vault_withdrawal', 'staking_transfer', 'unstaking_transfer'],
  ...['intx_deposit', 'intx_withdrawal', 'exchange_deposit', 'exchange_withdrawal'],
  ...['pro_deposit', 'pro_withdrawal'],
];
/** Types that change a balance by a trade, a payment in fiat or a reward, or nothing yet (10). */
const NO_MOVEMENT: readonly string[] = [
  ...['advanced_trade_fill', 'buy', 'sell', 'trade', 'wrap_asset', 'unwrap_asset', 'request'],
  ...['fiat_deposit', 'fiat_withdrawal', 'cardspend', 'cardbuyback', 'subscription'],
  ...['subscription_rebate', 'earn_payout', 'interest', 'inflation_reward', 'staking_reward'],
  ...['incentives_rewards_payout', 'incentives_shared_clawback', 'clawback'],
  ...['derivatives_settlement', 'retail_simple_dust', 'unsupported_asset_recovery'],
  ...['fcm_futures_usdc_sell', 'fcm_futures_usdc_sell_additional_encumberment_rollup'],
  'asset_migration',
];

/**
 * As `records` of the dialect. There is no list over all accounts, so that of each account is read:
 * of hundreds of assets that takes minutes (17). An account without a balance counts too, since it
 * may have been emptied in the period.
 */
export async function readRecords(
  connection: CexConnection,
  { period }: { readonly period: Period },
  call: CallOptions,
): Promise<readonly VenueRecord[]> {
  const accounts = await readAccounts(connection, call);
  const found: VenueRecord[] = [];
  for (const account of accounts.filter(({ type }) => type !== 'fiat')) {
    const listed = await readTransactions(connection, { account, from: period.from }, call);
    const within = listed.filter(
      ({ created_at }) => created_at >= period.from && created_at <= period.to,
    );
    found.push(...within.flatMap(lineOf));
  }
  return found;
}

/**
 * Returns the line of a transaction; none for what moves no funds. A debit of a type that is not
 * known may be a payment, so it is one here: to hide it would be worse.
 */
function lineOf(each: Transaction): readonly VenueRecord[] {
  if (TRANSFERS.includes(each.type)) return [recordOf('transfer', each)];
  if (NO_MOVEMENT.includes(each.type)) return [];
  if (isDebit(each)) return [recordOf('withdrawal', each)];
  return isDeposit(each) ? [recordOf('deposit', each)] : [];
}

function recordOf(kind: VenueRecord['kind'], each: Transaction): VenueRecord {
  const isWithdrawal = kind === 'withdrawal';
  const { status, transaction, fee } = isWithdrawal ? sendOf(each) : bookedAs(each);
  return {
    kind,
    id: each.id,
    client_id: isWithdrawal ? (each.idem?.toLowerCase() ?? null) : null,
    at: new Date(each.created_at).toISOString(),
    status,
    asset: each.amount.currency,
    amount: sizeOf(each),
    fee,
    network: networkOf(each).name,
    address: isWithdrawal ? addressOf(each) : null,
    // Coinbase shows no tags here (6).
    tag: null,
    transaction,
    source: null,
    destination: null,
  };
}

type Outcome = Pick<VenueRecord, 'status' | 'transaction' | 'fee'>;

function bookedAs(each: Transaction): Outcome {
  const status = statusOf(each.status);
  // A booking within Coinbase has no hash, and the other side's record has another id.
  const transaction = networkOf(each).hash ?? (status === 'completed' ? each.id : null);
  return { status, transaction, fee: null };
}

/** A send that contradicts itself is shown by its words alone: it must not end the list. */
function sendOf(each: Transaction): Outcome {
  try {
    const { status, transaction, fee } = withdrawalRecord(each);
    return { status, transaction, fee: status === 'completed' ? fee : shownFee(each) };
  } catch (error) {
    if (!(error instanceof ExecutorFault) || error.code !== MISMATCH) throw error;
    return { ...bookedAs(each), fee: shownFee(each) };
  }
}
