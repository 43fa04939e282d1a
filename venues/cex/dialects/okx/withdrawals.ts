/** Terms, send, search and cancel of withdrawals at OKX. */
import type { z } from 'zod';
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import {
  add,
  compare,
  fromBaseUnits,
  isMultiple,
  isPositive,
  subtract,
} from '../../../../domain/money.ts';
import type { WithdrawalQuota } from '../../../../domain/withdrawal-outlook.ts';
import { rejected } from '../../../node-plan.ts';
import { ask, find, read } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type {
  Period,
  Quote,
  RecordStatus,
  WithdrawalOrder,
  WithdrawalRecord,
  WithdrawalTerms,
} from '../../dialect.ts';
import { CEX_FAULTS } from '../../errors.ts';
import { checkFeeLimit, FEE_VALID_MS, feeExpired } from '../../fee-limit.ts';
import { windows } from '../../windows.ts';
import * as answers from './answers.ts';
import { chainOf, DAY, isoTime, networkOf } from './names.ts';
import { CANCELLABLE_STATES, withdrawalState } from './states.ts';

/**
 * OKX names no limit of its histories of withdrawals and deposits (docs/okx-facts.md, 9 and 18), so
 * 90 days are an assumption. They are half the age at which somebody published a record
 * (test/venues/cex/wire/okx.json, "a real record").
 */
export const KEPT = { longest: Number.POSITIVE_INFINITY, keeps: 90 * DAY };

/** On chain; 3 would be a booking within OKX. */
const ON_CHAIN = '4';
const NO_SUCH_WITHDRAWAL = '58215';
/** A colon separates address and tag, so neither may hold one. */
const WITHOUT_COLON = '[^:]+';

type ChainTerms = z.output<typeof answers.chainTerms>;

/** As `withdrawalTerms` of the dialect; the bounds of OKX are for what arrives. */
export async function withdrawalTerms(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<WithdrawalTerms | null> {
  const terms = await readTerms(connection, order, call);
  if (terms === null) return null;
  const { canWd, minWd, maxWd, wdTickSz, wdEstOpenTime } = terms;
  // A suspended chain may show no fee; nothing is sent over it.
  const fee = canWd ? feeOf(terms) : (terms.fee ?? '0');
  return {
    enabled: canWd,
    // OKX's bounds exclude the fee, those of an order include it (docs/okx-facts.md, 6).
    min: add(minWd ?? '0', fee),
    max: maxWd === null ? null : add(maxWd, fee),
    step: stepOf(wdTickSz),
    fee,
    address_pattern: WITHOUT_COLON,
    tag_pattern: WITHOUT_COLON,
    opens_at: canWd || wdEstOpenTime === null ? null : isoTime(wdEstOpenTime),
    quota: quotaOf(terms),
  };
}

/** As `quote` of the dialect: the fee is read before the send, and is added to what is sent. */
export async function quoteWithdrawal(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<Quote> {
  const terms = await readTerms(connection, order, call);
  if (terms === null)
    throw rejected('NETWORK_UNKNOWN', `OKX does not have ${order.asset} on ${order.network}`);
  const until = new Date(Date.now() + FEE_VALID_MS).toISOString();
  const quote = { fee: feeOf(terms), step: stepOf(terms.wdTickSz), until };
  checkFeeLimit(quote.fee, order);
  paymentOf(order, quote);
  return quote;
}

/** As `withdraw` of the dialect. */
export async function withdraw(
  connection: CexConnection,
  order: WithdrawalOrder,
  quote: Quote,
  call: CallOptions,
): Promise<string> {
  const { client_id, asset, network } = order;
  const { until, ...terms } = read(answers.quote, quote);
  // OKX adds the fee of now, so an old quote would take more from the account than was approved.
  if (Date.now() > Date.parse(until)) throw feeExpired();
  const parameters = {
    ccy: asset,
    // Without it OKX takes the main chain of the currency (docs/okx-facts.md, 1).
    chain: chainOf(asset, network),
    dest: ON_CHAIN,
    ...paymentOf(order, terms),
    clientId: client_id,
  };
  const schema = answers.oneOf(answers.withdrawn);
  return (await ask(connection, 'privatePostAssetWithdrawal', parameters, call, schema)).wdId;
}

/** Returns the withdrawals with the client id, none if OKX has no such withdrawal. */
export async function findWithdrawals(
  connection: CexConnection,
  { client_id, period }: { readonly client_id: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly WithdrawalRecord[]> {
  windows(period, KEPT);
  // No times beside the id: OKX's text and example contradict each other on them
  // (docs/okx-facts.md, 9). No currency either: a record of another one has to be seen.
  const found = await listed(connection, { clientId: client_id }, call);
  // Filtered here again: if OKX ignored the filter, another withdrawal would count as ours.
  return found.filter(({ clientId }) => clientId === client_id).map(withdrawalRecord);
}

/**
 * Requests that OKX cancel the withdrawal, in the states in which it accepts that. Its answer
 * proves nothing; the history shows the outcome (docs/okx-facts.md, 5).
 */
export async function cancelWithdrawal(
  connection: CexConnection,
  wdId: string,
  call: CallOptions,
): Promise<void> {
  const found = await listed(connection, { wdId }, call);
  const state = found.find((each) => each.wdId === wdId)?.state ?? '';
  if (!CANCELLABLE_STATES.includes(state)) return;
  const schema = answers.oneOf(answers.withdrawn);
  await ask(connection, 'privatePostAssetCancelWithdrawal', { wdId }, call, schema);
}

/** Returns the record in our words. */
export function withdrawalRecord(each: ListedWithdrawal): WithdrawalRecord {
  const [status, exchange_status] = stateOf(each);
  const { address, tag } = payeeOf(each);
  // A booking within OKX has no hash, and the other side's deposit shows its id
  // (docs/okx-facts.md, 5). Before the end, the hash may just not be there yet.
  const booking = status === 'completed' ? each.wdId : null;
  return {
    id: each.wdId,
    status,
    exchange_status,
    asset: each.ccy,
    network: networkOf(each.ccy, each.chain),
    address,
    tag,
    net_amount: each.amt,
    fee: each.fee,
    ...otherFeeAsset(each),
    tx_hash: each.txId,
    transaction: each.txId ?? booking,
  };
}

/** One that failed and has a hash is pending: the transaction may have paid. */
function stateOf({ state, txId }: ListedWithdrawal): readonly [RecordStatus, string] {
  const [status, text] = withdrawalState(state);
  if (status === 'failed' && txId !== null) return ['pending', `${text}, with a hash`];
  return [status, text];
}

export type ListedWithdrawal = z.output<typeof answers.withdrawal>;

async function listed(
  connection: CexConnection,
  filter: { readonly clientId: string } | { readonly wdId: string },
  call: CallOptions,
): Promise<readonly ListedWithdrawal[]> {
  const found = await find(connection, 'privateGetAssetWithdrawalHistory', filter, {
    absent: [NO_SUCH_WITHDRAWAL],
    call,
    schema: answers.listOf(answers.withdrawal),
  });
  return found ?? [];
}

/**
 * Reads the terms of the order's chain; null if OKX does not have it.
 *
 * @throws ExecutorFault `rejected` `TAG_INVALID` for an order without the tag that the chain needs,
 *   `rejected` `WITHDRAWAL_NOT_ALLOWED` for an asset of which OKX burns a part.
 */
async function readTerms(
  connection: CexConnection,
  { asset, network, tag }: WithdrawalOrder,
  call: CallOptions,
): Promise<ChainTerms | null> {
  const schema = answers.listOf(answers.currency);
  const parameters = { ccy: asset };
  const chains = await ask(connection, 'privateGetAssetCurrencies', parameters, call, schema);
  const found = chains.find(({ ccy, chain }) => ccy === asset && chain === chainOf(asset, network));
  if (found === undefined) return null;
  const terms = read(answers.chainTerms, found);
  if (terms.needTag && tag === null)
    throw rejected('TAG_INVALID', `a payment of ${asset} on ${network} needs a tag`);
  // Who bears what is burned is unclear, and so what would arrive (docs/okx-facts.md, 6).
  if (terms.burningFeeRate !== null && isPositive(terms.burningFeeRate))
    throw rejected('WITHDRAWAL_NOT_ALLOWED', `OKX burns a part of each withdrawal of ${asset}`);
  return terms;
}

/**
 * Returns the amount and the payee as OKX takes them: it adds its fee to the amount, and has the
 * tag in the address (docs/okx-facts.md, 5 and 6).
 *
 * @throws ExecutorFault `rejected` `AMOUNT_TOO_SMALL`, `AMOUNT_PRECISION`, `ADDRESS_INVALID` or
 *   `TAG_INVALID`.
 */
function paymentOf(
  { amount, address, tag }: WithdrawalOrder,
  { fee, step }: Pick<z.output<typeof answers.quote>, 'fee' | 'step'>,
): { readonly amt: string; readonly toAddr: string } {
  const amt = subtract(amount, fee);
  if (!isPositive(amt))
    throw rejected('AMOUNT_TOO_SMALL', `${amount} does not exceed OKX's fee of ${fee}`);
  if (!isMultiple(amt, step))
    throw rejected(
      'AMOUNT_PRECISION',
      `${amt}, which is ${amount} without the fee of ${fee}, is not a multiple of ${step}`,
    );
  const isPlain = (text: string): boolean => text !== '' && !text.includes(':');
  if (!isPlain(address)) throw rejected('ADDRESS_INVALID', 'OKX reads a colon as a tag');
  if (tag === null) return { amt, toAddr: address };
  if (!isPlain(tag)) throw rejected('TAG_INVALID', 'a tag may hold no colon at OKX');
  return { amt, toAddr: `${address}:${tag}` };
}

function feeOf({ fee }: ChainTerms): string {
  if (fee !== null) return fee;
  throw new ExecutorFault('protocol', CEX_FAULTS.protocol, 'OKX shows no fee of the withdrawal');
}

/** Returns the step of amounts with so many decimals. */
function stepOf(decimals: number): string {
  return fromBaseUnits(1n, decimals);
}

/** Returns what is left of the account's quota, 0 at least; null if the chain shows none. */
export function quotaOf({
  wdQuota,
  usedWdQuota,
}: Pick<ChainTerms, 'wdQuota' | 'usedWdQuota'>): WithdrawalQuota | null {
  if (wdQuota === null) return null;
  const left = subtract(wdQuota, usedWdQuota ?? '0');
  return { left: compare(left, '0') < 0 ? '0' : left, unit: 'USD' };
}

/**
 * Returns address and tag. Whether `to` repeats the tag is unproven (docs/okx-facts.md, 18); a
 * colon in it can be nothing else, since we send no address that holds one.
 */
function payeeOf({ to, ...each }: ListedWithdrawal): {
  readonly address: string;
  readonly tag: string | null;
} {
  const [address = '', ...rest] = to.split(':');
  const tag = each.tag ?? each.pmtId ?? each.memo ?? attachedTag(each.addrEx);
  return { address, tag: tag ?? (rest.length === 0 ? null : rest.join(':')) };
}

/** Returns the tag in `addrEx`, such as `{"comment": "123456"}`. */
function attachedTag(addrEx: unknown): string | null {
  if (typeof addrEx !== 'object' || addrEx === null) return null;
  const [first] = Object.values(addrEx) as readonly unknown[];
  return typeof first === 'string' && first !== '' ? first : null;
}

/** Some fees are paid in another currency (docs/okx-facts.md, 10.1: 58229). */
function otherFeeAsset({ ccy, feeCcy }: ListedWithdrawal): { readonly fee_asset?: string } {
  const fee_asset = feeCcy?.toUpperCase() ?? ccy.toUpperCase();
  return fee_asset === ccy.toUpperCase() ? {} : { fee_asset };
}
