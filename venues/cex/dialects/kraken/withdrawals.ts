/** Terms, quote, send, list and cancel of withdrawals at Kraken. */
import type { z } from 'zod';
import { sameAddress } from '../../../../domain/allowlist/address.ts';
import type { CallOptions } from '../../../../domain/executor.ts';
import { add, compare } from '../../../../domain/money.ts';
import type { WithdrawalQuota } from '../../../../domain/withdrawal-outlook.ts';
import { rejected } from '../../../node-plan.ts';
import { ask, find, read } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type {
  ListedWithdrawal,
  Period,
  Quote,
  WithdrawalOrder,
  WithdrawalTerms,
} from '../../dialect.ts';
import { checkFeeLimit } from '../../fee-limit.ts';
import {
  findRoute,
  isSameMethod,
  tagOfLabel,
  type ListedAddress,
  type Method,
} from './address-book.ts';
import * as answers from './answers.ts';
import { assetsOf, readAssets, type Assets, type KrakenAsset } from './assets.ts';
import { readAll } from './history.ts';
import { withdrawalState } from './states.ts';

const DAY = 86_400_000;
/** The states of an asset that pays out. Nothing shows it of a single network (9). */
const PAYING_OUT: readonly (string | null)[] = ['enabled', 'withdrawal_only'];
/** Codes by which Kraken may answer that it has no figures for an amount. */
const NO_FIGURES = ['EFunding:Invalid amount', 'EFunding:Insufficient funds'];

const NO_TERMS = {
  enabled: false,
  min: '0',
  max: null,
  step: null,
  fee: '0',
  address_pattern: null,
  tag_pattern: null,
  opens_at: null,
  quota: null,
} satisfies WithdrawalTerms;

type Info = z.output<typeof answers.info>;
type Withdrawal = z.output<typeof answers.withdrawal>;

/** Returns whether Kraken pays the asset out at present. */
export function paysOut({ status }: KrakenAsset): boolean {
  return PAYING_OUT.includes(status);
}

/**
 * As `withdrawalTerms` of the dialect. Kraken shows fee and quota per label alone (5), so without
 * one the fee is 0 and the minimum is what has to arrive.
 */
export async function withdrawalTerms(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<WithdrawalTerms | null> {
  const assets = await readAssets(connection, call);
  const asset = assets.find(order.asset);
  if (asset === null) return null;
  // The methods of a suspended asset may be missing.
  if (!paysOut(asset)) return NO_TERMS;
  const route = await findRoute(connection, { assets, asset, order }, call);
  if (route === null) return null;
  const minimum = leastOf(route.entry === null ? route.methods : [route.entry.method]);
  const info =
    route.entry === null || compare(order.amount, minimum) < 0
      ? null
      : await readInfo(connection, { asset, label: route.entry.label, order }, call);
  const fee = info?.fee ?? '0';
  return {
    ...NO_TERMS,
    enabled: true,
    // Kraken's minimum excludes the fee, an order's amount includes it (5).
    min: add(minimum, fee),
    fee,
    quota: info === null ? null : quotaOf(info, order),
  };
}

/**
 * As `quote` of the dialect: the label of the destination, and the fee as the highest to pay.
 *
 * @throws ExecutorFault `rejected` `ASSET_UNKNOWN`, `NETWORK_UNKNOWN`, `ADDRESS_NOT_WHITELISTED`,
 *   `FEE_ASSET_NOT_SUPPORTED`, `FEE_ABOVE_LIMIT`, `EXCHANGE_REFUSED` or `AMOUNT_PRECISION`.
 */
export async function quoteWithdrawal(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<Quote> {
  const assets = await assetsOf(connection, call);
  const asset = assets.find(order.asset);
  if (asset === null) throw rejected('ASSET_UNKNOWN', `Kraken does not have ${order.asset}`);
  const route = await findRoute(connection, { assets, asset, order }, call);
  if (route === null)
    throw rejected('NETWORK_UNKNOWN', `Kraken does not have ${order.asset} on ${order.network}`);
  if (route.entry === null)
    throw rejected(
      'ADDRESS_NOT_WHITELISTED',
      "Kraken's address book does not hold the destination as verified, for this asset, network and tag",
    );
  const { label, address, method } = route.entry;
  checkFeeAsset(method, { assets, order });
  const info = await readInfo(connection, { asset, label, order }, call);
  checkInfo(info, { method, order });
  checkFeeLimit(info.fee, order);
  return { asset: asset.altname, label, address, max_fee: info.fee };
}

/**
 * As `withdraw` of the dialect. The label is what counts; the address goes along as confirmation,
 * written as in the book: whether Kraken compares it without case is unproven (4).
 */
export async function withdraw(
  connection: CexConnection,
  order: WithdrawalOrder,
  quote: Quote,
  call: CallOptions,
): Promise<string> {
  const { asset, label, address, max_fee } = read(answers.quote, quote);
  if (!sameAddress(address, order.address))
    throw rejected('ADDRESS_NOT_WHITELISTED', 'the quoted label is of another address');
  const parameters = { asset, key: label, address, amount: order.amount, max_fee };
  const schema = answers.resultOf(answers.withdrawn);
  return (await ask(connection, 'privatePostWithdraw', parameters, call, schema)).refid;
}

/** As `list` of the dialect's search. */
export async function listWithdrawals(
  connection: CexConnection,
  { asset, period }: { readonly asset: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly ListedWithdrawal[]> {
  const listed = await readWithdrawals(connection, { asset, period }, call);
  // Filtered here again: if Kraken ignored the filter, another asset's would count as ours.
  return listed.filter((each) => each.asset === asset);
}

/** Returns the withdrawals in the period; with `asset` those of the asset. */
export async function readWithdrawals(
  connection: CexConnection,
  { asset, period }: { readonly asset?: string; readonly period: Period },
  call: CallOptions,
): Promise<readonly ListedWithdrawal[]> {
  const assets = await assetsOf(connection, call);
  const filter = asset === undefined ? {} : { asset: assets.find(asset)?.altname };
  const listed = await readStatus(connection, { filter, period }, call);
  const book = listed.some(needsTag) ? await readBook(connection, call) : [];
  return listed.map((each) => recordOf(each, { assets, tag: tagOfLabel(book, each) }));
}

/**
 * Requests that Kraken cancel the withdrawal. Its answer only accepts the request; the history
 * shows the outcome.
 */
export async function cancelWithdrawal(
  connection: CexConnection,
  refid: string,
  call: CallOptions,
): Promise<void> {
  const now = Date.now();
  const period = { from: now - 90 * DAY + 60_000, to: now + DAY };
  const listed = await readStatus(connection, { filter: {}, period }, call);
  const found = listed.find((each) => each.refid === refid);
  if (found === undefined || withdrawalState(found)[0] !== 'pending') return;
  if (['cancel-pending', 'cancel-denied'].includes(found['status-prop'] ?? '')) return;
  const parameters = { asset: found.asset, refid };
  const schema = answers.resultOf(answers.cancelAccepted);
  await ask(connection, 'privatePostWithdrawCancel', parameters, call, schema);
}

function readStatus(
  connection: CexConnection,
  of: { readonly filter: { readonly asset?: string | undefined }; readonly period: Period },
  call: CallOptions,
): Promise<readonly Withdrawal[]> {
  const schema = answers.pageOf(answers.withdrawal, ['withdrawals', 'withdrawal']);
  return readAll(connection, { ...of, method: 'privatePostWithdrawStatus', schema }, call);
}

/** EVM addresses have no tags, so their records need no look into the book. */
function needsTag({ key, info }: Withdrawal): boolean {
  return key !== null && info !== null && !/^0x[0-9a-f]{40}$/i.test(info);
}

/** Returns the book; empty for a key that may read the history alone (10). */
async function readBook(
  connection: CexConnection,
  call: CallOptions,
): Promise<readonly ListedAddress[]> {
  const schema = answers.resultOf(answers.addresses);
  const of = { absent: ['EGeneral:Permission denied'], call, schema };
  return (await find(connection, 'privatePostWithdrawAddresses', {}, of)) ?? [];
}

function recordOf(
  each: Withdrawal,
  { assets, tag }: { readonly assets: Assets; readonly tag: string | null },
): ListedWithdrawal {
  const [status, exchange_status] = withdrawalState(each);
  // Before the end the text may be a placeholder (6).
  const transaction = status === 'completed' ? each.txid : null;
  return {
    id: each.refid,
    status,
    exchange_status,
    asset: assets.nameOf(each.asset),
    network: each.network,
    address: each.info ?? '',
    tag,
    net_amount: each.amount,
    fee: each.fee,
    tx_hash: isOnChain(each) ? transaction : null,
    transaction,
    at: each.time,
  };
}

/** What `txid` is over Lightning and between accounts of Kraken is unproven (18). */
function isOnChain({ txid, network }: Withdrawal): boolean {
  return network !== 'Lightning' && !/^[A-Z0-9]+(-[A-Z0-9]+){2}$/.test(txid ?? '');
}

/** Returns fee and quota of the order; null if Kraken has none for its amount. */
function readInfo(
  connection: CexConnection,
  {
    asset,
    label,
    order,
  }: { readonly asset: KrakenAsset; readonly label: string; readonly order: WithdrawalOrder },
  call: CallOptions,
): Promise<Info | null> {
  const parameters = { asset: asset.altname, key: label, amount: order.amount };
  return find(connection, 'privatePostWithdrawInfo', parameters, {
    absent: NO_FIGURES,
    call,
    schema: answers.resultOf(answers.info),
  });
}

/** Returns the lowest minimum of the methods, without the fee. */
function leastOf(methods: readonly Method[]): string {
  const minimums = methods.map((each) => read(answers.method, each).minimum);
  return minimums.reduce((least, each) => (compare(each, least) < 0 ? each : least));
}

/** `limit` excludes the fee, an order's amount includes it (9). */
function quotaOf({ limit, fee }: Info, { asset }: WithdrawalOrder): WithdrawalQuota {
  return { left: compare(limit, '0') <= 0 ? '0' : add(limit, fee), unit: asset };
}

function checkFeeAsset(
  method: Method,
  { assets, order }: { readonly assets: Assets; readonly order: WithdrawalOrder },
): void {
  const { fee } = read(answers.method, method);
  if (fee == null || assets.nameOf(fee.asset) === order.asset) return;
  throw rejected(
    'FEE_ASSET_NOT_SUPPORTED',
    `Kraken takes its fee for ${order.asset} on ${order.network} in another asset`,
  );
}

/** Checks that Kraken would do with the label and the amount what the order means. */
function checkInfo(
  info: Info | null,
  { method, order }: { readonly method: Method; readonly order: WithdrawalOrder },
): asserts info is Info {
  if (info === null)
    throw rejected('EXCHANGE_REFUSED', `Kraken accepts no withdrawal of ${order.amount}`);
  if (!isSameMethod(info, method))
    throw rejected(
      'NETWORK_UNKNOWN',
      `Kraken would pay the label of the destination over another network than ${order.network}`,
    );
  // How many decimals Kraken takes is unproven, and so is whether it cuts more (18). The sum also
  // shows that the amount includes the fee (5).
  if (compare(add(info.amount, info.fee), order.amount) !== 0)
    throw rejected(
      'AMOUNT_PRECISION',
      `of ${order.amount} Kraken would pay ${info.amount} and keep ${info.fee}; use fewer decimals`,
    );
}
