/** Terms, quote, send and search of withdrawals at Coinbase. */
import type { z } from 'zod';
import { sameAddress } from '../../../../domain/allowlist/address.ts';
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import { compare, fromBaseUnits, isMultiple, isPositive } from '../../../../domain/money.ts';
import { rejected } from '../../../node-plan.ts';
import { ask, read } from '../../answers.ts';
import { hashedId } from '../../client-id.ts';
import type { CexConnection } from '../../connection.ts';
import type {
  Quote,
  RecordStatus,
  WithdrawalOrder,
  WithdrawalQuery,
  WithdrawalRecord,
  WithdrawalTerms,
} from '../../dialect.ts';
import { CEX_FAULTS } from '../../errors.ts';
import { netAmount, requireFeeLimit } from '../../fee-limit.ts';
import { fits } from '../../patterns.ts';
import { findWallet, readWallets, type Account } from './accounts.ts';
import * as answers from './answers.ts';
import { readAccountBalances } from './balances.ts';
import { statusOf } from './states.ts';
import {
  addressOf,
  figuresOf,
  isDebit,
  mismatch,
  networkOf,
  readTransactions,
  sizeOf,
  type Network,
  type Transaction,
} from './transactions.ts';

/** Coinbase's networks are lower case words; no call lists them (docs/coinbase-facts.md, 19). */
const NETWORK = /^[a-z][a-z0-9_-]*$/;
/** What no e-mail address and no telephone number is: Coinbase would send to both (6). */
const PLAIN_ADDRESS = /^(?!\+?[0-9]+$)[A-Za-z0-9._:-]+$/;
/** Shorter texts count as an address only if they fit the asset's pattern. */
const SHORTEST_ADDRESS = 20;

/**
 * Returns a UUID of version 4 in lower case, always the same for the same key: the only form that
 * Coinbase documents for `idem` (5).
 */
export function withdrawalId(idempotencyKey: string): string {
  const hex = hashedId(idempotencyKey);
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20),
  ].join('-');
}

/** The account that pays, and its asset. */
interface Wallet {
  readonly account: Account;
  readonly currency: z.output<typeof answers.currency>;
}

/**
 * As `withdrawalTerms` of the dialect. Coinbase shows neither bounds nor a fee nor a quota (7).
 *
 * @throws ExecutorFault `rejected` `FEE_LIMIT_MISSING`, `ACCOUNT_UNKNOWN`, `ADDRESS_INVALID` or
 *   `TAG_INVALID`.
 */
export async function withdrawalTerms(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<WithdrawalTerms | null> {
  const fee = requireFeeLimit(order);
  const wallet = await readWallet(connection, order, call);
  if (wallet === null) return null;
  const { allow_withdrawals } = wallet.account;
  return {
    // Not documented, and recorded only as true.
    enabled: allow_withdrawals == null || allow_withdrawals === true,
    min: '0',
    max: null,
    step: stepOf(wallet),
    fee,
    address_pattern: null,
    tag_pattern: wallet.currency.destination_tag_regex,
    opens_at: null,
    quota: null,
  };
}

/**
 * As `quote` of the dialect: the account, and what is sent. Coinbase adds its fee to that.
 *
 * @throws ExecutorFault `rejected` as {@link withdrawalTerms}, and `NETWORK_UNKNOWN`,
 *   `AMOUNT_TOO_SMALL` or `AMOUNT_PRECISION`.
 */
export async function quoteWithdrawal(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<Quote> {
  const { asset, network } = order;
  const amount = netAmount(order);
  const wallet = await readWallet(connection, order, call);
  if (wallet === null)
    throw rejected('NETWORK_UNKNOWN', `Coinbase does not have ${asset} on ${network}`);
  if (!isPositive(amount))
    throw rejected(
      'AMOUNT_TOO_SMALL',
      `${order.amount} does not exceed config.fee_limit of ${String(order.fee_limit)}`,
    );
  const step = stepOf(wallet);
  if (!isMultiple(amount, step))
    throw rejected(
      'AMOUNT_PRECISION',
      `${amount}, which is ${order.amount} without config.fee_limit, is not a multiple of ${step}`,
    );
  const { id } = wallet.account;
  // No source says that v2 and v3 have the same ids, and the balance was read from v3 (4).
  const balances = await readAccountBalances(connection, call);
  if (!balances.some(({ uuid, currency }) => uuid === id && currency === asset))
    throw rejected('ACCOUNT_UNKNOWN', `Coinbase shows no balance of its account of ${asset}`);
  return { account: id, amount };
}

/**
 * As `withdraw` of the dialect.
 *
 * @throws ExecutorFault `WITHDRAWAL_MISMATCH` if the answer is of another withdrawal: a repeated
 *   `idem` returns the earlier one, whatever it was (5). The search then shows which.
 */
export async function withdraw(
  connection: CexConnection,
  order: WithdrawalOrder,
  quote: Quote,
  call: CallOptions,
): Promise<string> {
  const { account, amount } = read(answers.quote, quote);
  if (compare(amount, netAmount(order)) !== 0)
    throw rejected('QUOTE_INVALID', 'the quoted amount is not that of the order; nothing was sent');
  const parameters = {
    account_id: account,
    type: 'send',
    to: order.address,
    amount,
    currency: order.asset,
    idem: order.client_id,
    // Without it Coinbase takes the default network of the asset (6).
    network: order.network,
    destination_tag: order.tag ?? undefined,
  };
  const method = 'v2PrivatePostAccountsAccountIdTransactions';
  const schema = answers.dataOf(answers.transaction);
  const sent = await ask(connection, method, parameters, call, schema);
  const difference = differenceOf(sent, order) ?? amountDifference(sent, amount);
  if (difference === null) return sent.id;
  throw mismatch(difference);
}

/**
 * Returns the withdrawals with the client id, and the one that Coinbase named in its answer.
 *
 * @throws ExecutorFault `WITHDRAWAL_MISMATCH` for a record that differs from what was sent,
 *   `WITHDRAWAL_AMBIGUOUS` if none is found, and a send without `idem` may be it.
 */
export async function findWithdrawals(
  connection: CexConnection,
  query: WithdrawalQuery,
  call: CallOptions,
): Promise<readonly WithdrawalRecord[]> {
  const { asset, period, order, reference } = query;
  const wallets = await readWallets(connection, asset, call);
  // What was sent left one of them, so without any nothing shows that it was not sent.
  if (wallets.length === 0)
    throw new ExecutorFault(
      'protocol',
      CEX_FAULTS.protocol,
      `the exchange shows no account of ${asset}, from which this withdrawal would have left`,
    );
  const found: Transaction[] = [];
  for (const account of wallets)
    found.push(...(await readTransactions(connection, { account, from: period.from }, call)));
  const own = found.filter((each) => isOwn(each, query) || each.id === reference);
  const differences = own.flatMap((each) =>
    order === undefined ? [] : (differenceOf(each, order) ?? []),
  );
  if (differences[0] !== undefined) throw mismatch(differences[0]);
  // Coinbase documents `idem` for every send, so this shows a record that it should not have.
  const nameless = own.length === 0 && found.some((each) => isNameless(each, query));
  if (nameless)
    throw new ExecutorFault(
      'protocol',
      'WITHDRAWAL_AMBIGUOUS',
      'the exchange shows a send without the id of its request, which may be this withdrawal',
    );
  return own.map(withdrawalRecord);
}

/** `idem` is compared exactly, once in lower case (1). */
function isOwn({ idem }: Transaction, { client_id }: WithdrawalQuery): boolean {
  return idem?.toLowerCase() === client_id;
}

/** Returns whether the record may be the query's withdrawal, and has no id that shows it. */
function isNameless(each: Transaction, { period, order }: WithdrawalQuery): boolean {
  // `tx` may be anything (10).
  if (!['send', 'tx'].includes(each.type) || !isDebit(each)) return false;
  if (each.idem !== null || each.created_at < period.from) return false;
  const address = addressOf(each);
  return address === null || order === undefined || sameAddress(address, order.address);
}

/** Returns the record of a send in our words. */
export function withdrawalRecord(each: Transaction): WithdrawalRecord {
  const network = networkOf(each);
  const isCompleted = statusOf(each.status) === 'completed';
  // The fee of a pending send may be missing, and may still change.
  const figures = isCompleted ? figuresOf(each) : null;
  const [status, exchange_status] = stateOf(each, { network, hasFigures: figures !== null });
  return {
    id: each.id,
    status,
    exchange_status,
    asset: each.amount.currency,
    network: network.name,
    address: addressOf(each) ?? '',
    // Where a record repeats the tag is unproven (6).
    tag: null,
    // Of a record that is not completed these are not reported.
    net_amount: figures?.net_amount ?? sizeOf(each),
    fee: figures?.fee ?? '0',
    tx_hash: network.hash,
    transaction: network.hash ?? (status === 'completed' ? each.id : null),
  };
}

/**
 * Returns the state of a send. One that is called completed and shows no fee is pending: how much
 * left the account is unknown, and 0 would be a false record. So is one without a hash that is no
 * booking within Coinbase: nothing shows that it was sent (9). One that failed and has a hash is
 * pending, too: the transaction may have paid.
 */
function stateOf(
  { status: word }: Transaction,
  { network, hasFigures }: { readonly network: Network; readonly hasFigures: boolean },
): readonly [RecordStatus, string] {
  const status = statusOf(word);
  if (status === 'failed' && network.hash !== null) return ['pending', `${word}, with a hash`];
  if (status !== 'completed') return [status, word];
  if (!hasFigures) return ['pending', `${word}, without a fee`];
  if (network.hash === null && !network.isWithin) return ['pending', `${word}, without a hash`];
  return [status, word];
}

/** Returns in what the record differs from the order; null: in nothing that it shows. */
function differenceOf(each: Transaction, order: WithdrawalOrder): string | null {
  const [{ name }, address] = [networkOf(each), addressOf(each)];
  if (each.idem !== null && each.idem.toLowerCase() !== order.client_id)
    return 'has the id of another request';
  if (each.amount.currency !== order.asset) return `is of ${each.amount.currency}`;
  if (address !== null && !sameAddress(address, order.address)) return 'pays another address';
  // Whether Coinbase replaces a network that it does not have by its default one is unproven (21).
  if (name !== null && name.toLowerCase() !== order.network) return `is on the network ${name}`;
  return null;
}

/** An answer need not show the fee, and then neither what was sent (6). */
function amountDifference(sent: Transaction, amount: string): string | null {
  const figures = figuresOf(sent);
  if (figures === null || compare(figures.net_amount, amount) === 0) return null;
  return `shows ${figures.net_amount} as sent, not ${amount}`;
}

/** Returns the account that pays the order; null if Coinbase has none, or no such network. */
async function readWallet(
  connection: CexConnection,
  order: WithdrawalOrder,
  call: CallOptions,
): Promise<Wallet | null> {
  const { asset, network } = order;
  if (!NETWORK.test(network)) return null;
  const account = await findWallet(connection, asset, call);
  if (account === null) return null;
  const currency = read(answers.currency, account.currency);
  checkPayee(order, currency);
  return { account, currency };
}

/**
 * The asset's pattern alone neither accepts nor refuses an address: it is for one of its networks,
 * and need not cover the whole text (19).
 */
function checkPayee(
  { asset, address, tag }: WithdrawalOrder,
  { address_regex, destination_tag_regex }: Wallet['currency'],
): void {
  const isLong = address.length >= SHORTEST_ADDRESS;
  if (!PLAIN_ADDRESS.test(address) || !(isLong || fits(address_regex, address)))
    throw rejected('ADDRESS_INVALID', 'Coinbase could take the destination for another payee');
  if (tag !== null && destination_tag_regex === null)
    throw rejected('TAG_INVALID', `Coinbase shows no tags of ${asset}`);
}

function stepOf({ currency }: Wallet): string {
  return fromBaseUnits(1n, currency.exponent);
}
