/** Terms, send, list and cancel of withdrawals at Bybit. */
import type { z } from 'zod';
import { sameAddress } from '../../../../domain/allowlist/address.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { add, fromBaseUnits, isPositive, multiply, subtract } from '../../../../domain/money.ts';
import { rejected } from '../../../node-plan.ts';
import { ask, find, read } from '../../answers.ts';
import type { CexConnection, Parameters } from '../../connection.ts';
import type {
  ListedWithdrawal,
  Period,
  Quote,
  RecordStatus,
  Spacing,
  WithdrawalOrder,
  WithdrawalTerms,
} from '../../dialect.ts';
import * as answers from './answers.ts';
import { LONGEST, readAll } from './history.ts';
import { ACCOUNT_TYPE_OF, isoTime, networkOf } from './names.ts';
import { withdrawalState } from './states.ts';

/** Always to the chain: a plan names the network, so nothing is booked within Bybit instead. */
const ON_CHAIN = 1;
/** `amount` includes the fee: no change of the fee can take more than the order (6). */
const FEE_INCLUDED = 1;
/** On chain and within Bybit: what is made on the website may be either. */
const EVERY_TYPE = 2;
/** A record's type on chain. */
const CHAIN_TYPE = '0';
/** The withdrawal cannot be cancelled now; the English text says the contrary (10.3). */
const NOT_CANCELLABLE = '131099';

const CREATE = 'privatePostV5AssetWithdrawCreate';
/** Bybit's ten seconds (13), and one for requests that travel at different speeds. */
const SPACING_SECONDS = 11;

/** As `spacing` of the dialect. */
export function spacing(method: string, { coin, chain }: Parameters): Spacing | null {
  if (method !== CREATE) return null;
  return {
    name: JSON.stringify([method, coin, chain]),
    seconds: SPACING_SECONDS,
    // Bybit refuses an old one (14).
    stamp: () => ({ timestamp: Date.now() }),
  };
}

type ChainTerms = z.output<typeof answers.chainTerms>;
type Withdrawal = z.output<typeof answers.withdrawal>;

/** As `withdrawalTerms` of the dialect. */
export async function withdrawalTerms(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<WithdrawalTerms | null> {
  const schema = answers.resultOf(answers.coins);
  const parameters = { coin: order.asset };
  const method = 'privateGetV5AssetCoinQueryInfo';
  const { rows } = await ask(connection, method, parameters, call, schema);
  const found = rows
    .filter(({ coin }) => coin === order.asset)
    .flatMap(({ chains }) => chains)
    .find(({ chain }) => chain === order.network);
  if (found === undefined) return null;
  const terms = read(answers.chainTerms, found);
  const fee = feeOf(terms, order.amount);
  return {
    // A coin without a fee does not support withdrawals (6).
    enabled: terms.chainWithdraw === '1' && fee !== null,
    // Whether the minimum includes the fee is not documented: the larger of both readings (6).
    min: add(terms.withdrawMin ?? '0', fee ?? '0'),
    max: terms.withdrawMax,
    step: fromBaseUnits(1n, terms.minAccuracy),
    fee: fee ?? '0',
    address_pattern: null,
    tag_pattern: null,
    opens_at: null,
    quota: null,
  };
}

/** Returns the fee that is kept from the amount, with its part by percentage; null: none shown. */
function feeOf({ withdrawFee, withdrawPercentageFee }: ChainTerms, amount: string): string | null {
  if (withdrawFee === null) return null;
  const rest = subtract(amount, withdrawFee);
  if (withdrawPercentageFee === null || !isPositive(rest)) return withdrawFee;
  return add(withdrawFee, multiply(rest, withdrawPercentageFee));
}

/**
 * As `withdraw` of the dialect. Bybit compares the case of letters, so the address is sent as the
 * book spells it (7).
 */
export async function withdraw(
  connection: CexConnection,
  { client_id, asset, network, address, tag, amount }: WithdrawalOrder,
  quote: Quote,
  call: CallOptions,
): Promise<string> {
  const listed = read(answers.quote, quote).address;
  if (!sameAddress(listed, address))
    throw rejected('ADDRESS_NOT_WHITELISTED', 'the quoted entry of the book is of another address');
  const parameters = {
    coin: asset,
    chain: network,
    address: listed,
    tag: tag ?? undefined,
    amount,
    // Another guard against a replay than the one of the signature (4).
    timestamp: Date.now(),
    forceChain: ON_CHAIN,
    accountType: ACCOUNT_TYPE_OF.SPOT,
    feeType: FEE_INCLUDED,
    // It finds nothing again, but Bybit verifies by it that a request is not repeated (4).
    requestId: client_id,
  };
  const schema = answers.resultOf(answers.withdrawn);
  return (await ask(connection, CREATE, parameters, call, schema)).id;
}

/** As `list` of the dialect's search. */
export async function listWithdrawals(
  connection: CexConnection,
  { asset, period }: { readonly asset: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly ListedWithdrawal[]> {
  const listed = await readWithdrawals(connection, { asset, period }, call);
  // Filtered here again: if Bybit ignored the filter, another asset's would count as ours.
  return listed.filter((each) => each.asset === asset);
}

/** Returns the withdrawals in the period; with `asset` those of the asset. */
export async function readWithdrawals(
  connection: CexConnection,
  { asset, period }: { readonly asset?: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly ListedWithdrawal[]> {
  const history = {
    method: 'privateGetV5AssetWithdrawQueryRecord',
    list: 'rows',
    record: answers.withdrawal,
    idOf: ({ withdrawId }: Withdrawal) => withdrawId,
    longest: LONGEST.records,
    filter: { coin: asset, withdrawType: EVERY_TYPE },
  } as const;
  return (await readAll(connection, history, period, call)).map(recordOf);
}

/**
 * Requests that Bybit cancel the withdrawal. In which states it does is not documented, and its
 * answer proves nothing: the history shows the outcome (5).
 */
export async function cancelWithdrawal(
  connection: CexConnection,
  id: string,
  call: CallOptions,
): Promise<void> {
  const schema = answers.resultOf(answers.cancelled);
  const of = { absent: [NOT_CANCELLABLE], call, schema };
  await find(connection, 'privatePostV5AssetWithdrawCancel', { id }, of);
}

function recordOf(each: Withdrawal): ListedWithdrawal {
  const [status, exchange_status] = stateOf(each);
  return {
    id: each.withdrawId,
    status,
    exchange_status,
    asset: each.coin,
    network: networkOf(each.chain),
    address: each.toAddress,
    tag: each.tag,
    net_amount: each.amount,
    fee: each.withdrawFee,
    // The `txID` of a booking within Bybit is no hash (5).
    tx_hash: isOnChain(each) ? each.txID : null,
    transaction: each.txID,
    at: isoTime(each.createTime),
    gross_amounts: grossAmounts(each),
  };
}

/**
 * Two records with `success` prove nothing: one with a tax, of which no source says who bears it,
 * so what arrived is unknown (6), and one on chain without a transaction, which no source shows.
 * Nor does one that failed and has a transaction: that may have paid.
 */
function stateOf(each: Withdrawal): readonly [RecordStatus, string] {
  const [status, text] = withdrawalState(each.status);
  if (status === 'failed' && isOnChain(each) && each.txID !== null)
    return ['pending', `${text}, with a transaction`];
  if (status !== 'completed') return [status, text];
  if (isTaxed(each)) return ['pending', `${text}, with a tax: what arrived is unknown`];
  if (isOnChain(each) && each.txID === null) return ['pending', `${text}, without a transaction`];
  return [status, text];
}

/**
 * Returns every amount that may have left the account: nothing shows whether `amount` includes the
 * fee (18.3), or a tax.
 */
function grossAmounts({ amount, withdrawFee, tax }: Withdrawal): readonly string[] {
  const sums = [add(amount, withdrawFee), amount];
  return [...sums, ...(tax === null ? [] : sums.map((sum) => add(sum, tax)))];
}

function isTaxed({ tax }: Withdrawal): boolean {
  return tax !== null && isPositive(tax);
}

function isOnChain({ withdrawType }: Withdrawal): boolean {
  return withdrawType === CHAIN_TYPE;
}
