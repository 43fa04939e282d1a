/** Reads the transactions of an account: its only history, which holds everything. */
import type { z } from 'zod';
import { ExecutorFault, type CallOptions } from '../../../../domain/executor.ts';
import { add, compare, subtract } from '../../../../domain/money.ts';
import { read } from '../../answers.ts';
import type { CexConnection } from '../../connection.ts';
import type { Account } from './accounts.ts';
import * as answers from './answers.ts';
import { readAll } from './history.ts';

export type Transaction = z.output<typeof answers.transaction>;

/** A network on which nothing happens: a booking within Coinbase (docs/coinbase-facts.md, 6). */
const WITHIN = 'off_blockchain';

/** What is known of a transaction's network. */
export interface Network {
  readonly name: string | null;
  readonly hash: string | null;
  readonly isWithin: boolean;
}

/** What a send cost, in units of its asset. */
interface Figures {
  readonly net_amount: string;
  readonly fee: string;
}

/**
 * Returns the account's transactions since `from`, in milliseconds since 1970, and older ones. That
 * they are ordered by their time is not documented (10), so a whole page beyond `from` is read.
 */
export function readTransactions(
  connection: CexConnection,
  { account, from }: { readonly account: Pick<Account, 'id'>; readonly from: number },
  call: CallOptions,
): Promise<readonly Transaction[]> {
  const list = {
    method: 'v2PrivateGetAccountsAccountIdTransactions',
    parameters: { account_id: account.id },
    record: answers.transaction,
    isEnd: (records: readonly Transaction[]) =>
      records.length > 0 && records.every(({ created_at }) => created_at < from),
  };
  return readAll(connection, list, call);
}

/** Returns whether the transaction takes from the account. */
export function isDebit({ amount }: Pick<Transaction, 'amount'>): boolean {
  return compare(amount.amount, '0') < 0;
}

/** Returns what the transaction takes from the account, or adds to it, without its sign. */
export function sizeOf({ amount }: Pick<Transaction, 'amount'>): string {
  return amount.amount.replace(/^-/, '');
}

/** Returns the network; a record of a trade has none. */
export function networkOf({ network }: Pick<Transaction, 'network'>): Network {
  const found = read(answers.network, network);
  return {
    name: found?.network_name ?? found?.name ?? null,
    hash: found?.hash ?? null,
    isWithin: found?.status === WITHIN,
  };
}

/** Returns the address that the transaction pays; null: it shows none. */
export function addressOf({ to }: Pick<Transaction, 'to'>): string | null {
  return read(answers.to, to)?.address ?? null;
}

/** Returns the fee that the record shows in its own asset; null: none. */
export function shownFee({ network, amount }: Transaction): string | null {
  const fee = read(answers.network, network)?.transaction_fee ?? null;
  return fee?.currency === amount.currency ? fee.amount : null;
}

/**
 * Returns what a send cost; null if the record does not show its fee. The fee is on top of what was
 * sent, and is in `amount` (7). Without a fee of its own a record is not one with a fee of 0: only
 * a booking within Coinbase is documented to be free.
 *
 * @throws ExecutorFault `WITHDRAWAL_MISMATCH` if the figures contradict each other, or if the fee
 *   is in another asset, so that more left than was approved: a person must look.
 */
export function figuresOf(send: Transaction): Figures | null {
  const network = read(answers.network, send.network);
  const { transaction_fee: fee = null, transaction_amount: sent = null } = network ?? {};
  const known = [fee, sent].filter((each) => each !== null);
  if (!isDebit(send)) throw mismatch('adds to the account');
  if (known.some(({ currency }) => currency !== send.amount.currency))
    throw mismatch('has figures in several assets');
  const left = sizeOf(send);
  if (fee === null && sent === null)
    return network?.status === WITHIN ? { net_amount: left, fee: '0' } : null;
  const figures = {
    net_amount: sent?.amount ?? subtract(left, fee?.amount ?? '0'),
    fee: fee?.amount ?? subtract(left, sent?.amount ?? '0'),
  };
  const { net_amount } = figures;
  const isWhole = compare(add(net_amount, figures.fee), left) === 0;
  if (!isWhole || compare(net_amount, '0') < 0 || compare(figures.fee, '0') < 0)
    throw mismatch('has figures that do not add up');
  return figures;
}

export const MISMATCH = 'WITHDRAWAL_MISMATCH';

/** Returns the fault of a record that is not as the withdrawal was sent. */
export function mismatch(what: string): ExecutorFault {
  return new ExecutorFault(
    'protocol',
    MISMATCH,
    `the exchange's record of this withdrawal ${what}`,
  );
}
