/** Views of the venue's books, with decimal amounts. */
import { fromBaseUnits } from '../../../domain/money.ts';
import { VENUE_ACCOUNT_TYPES, VENUE_ACCOUNTS } from './accounts.ts';
import type { Book, KeyRecord, Order } from './book.ts';
import type { ChainSettings } from './settings.ts';

/**
 * One idempotency key in `GET /ledger`. `effects` above 1 means that the order was paid more than
 * once.
 */
export interface LedgerEntry {
  readonly idempotency_key: string;
  readonly movement_id: string;
  readonly node_key: string;
  readonly action_type: string | null;
  readonly account: string | null;
  readonly asset: string | null;
  readonly amount: string | null;
  readonly destination_address: string | null;
  readonly external_ref: string | null;
  readonly tx_hash: string | null;
  /** Transaction hashes of all orders that were sent under this key. */
  readonly tx_hashes: readonly string[];
  readonly state: string;
  readonly error_code: string | null;
  readonly submit_calls: number;
  readonly effects: number;
  readonly accepted_at: string | null;
}

export interface BalanceView {
  readonly account: string;
  readonly account_type: string;
  readonly asset: string;
  readonly available: string;
  readonly withdrawable: string;
  readonly total: string;
}

export interface DepositView {
  readonly deposit_id: string;
  readonly account: string;
  readonly asset: string;
  readonly amount: string;
  readonly tx_hash: string;
  readonly credited_at: string;
}

/** Returns every key that was submitted or cancelled, oldest first. */
export function ledgerEntries(book: Book): LedgerEntry[] {
  return book.keys().map(ledgerEntry);
}

/**
 * Returns the balances of one account, or of all: every pool of every listed token, also empty
 * ones.
 */
export function balanceViews(book: Book, chain: ChainSettings, account?: string): BalanceView[] {
  return VENUE_ACCOUNTS.filter((each) => account === undefined || each === account).flatMap(
    (owner) =>
      VENUE_ACCOUNT_TYPES.flatMap((account_type) =>
        Object.entries(chain.tokens).map(([asset, { decimals }]) => {
          const amount = fromBaseUnits(book.balance(owner, account_type, asset), decimals);
          return {
            account: owner,
            account_type,
            asset,
            available: amount,
            withdrawable: amount,
            total: amount,
          };
        }),
      ),
  );
}

/** Returns every credited deposit, oldest first. */
export function depositViews(book: Book, chain: ChainSettings): readonly DepositView[] {
  return book.deposits.all().map(({ units, at, ...deposit }) => ({
    ...deposit,
    amount: fromBaseUnits(BigInt(units), chain.tokens[deposit.asset]?.decimals ?? 0),
    credited_at: at,
  }));
}

function ledgerEntry(record: KeyRecord): LedgerEntry {
  const { orders, idempotency_key, movement_id, node_key, submit_calls } = record;
  const order = orders[0];
  return {
    idempotency_key,
    movement_id,
    node_key,
    action_type: order?.action_type ?? null,
    account: order?.terms['account'] ?? null,
    asset: order?.terms['asset'] ?? null,
    amount: order?.terms['amount'] ?? null,
    destination_address: order?.terms['destination_address'] ?? null,
    external_ref: order?.order_id ?? null,
    tx_hash: order?.signed?.tx_hash ?? null,
    tx_hashes: orders.flatMap(({ signed }) => (signed === undefined ? [] : [signed.tx_hash])),
    state: order?.state ?? stateWithoutOrder(record),
    error_code: record.refusal?.error_code ?? null,
    submit_calls,
    effects: orders.filter(hasEffect).length,
    accepted_at: order?.accepted_at ?? null,
  };
}

function hasEffect(order: Order): boolean {
  return order.state !== 'cancelled' && order.state !== 'reverted';
}

function stateWithoutOrder(record: KeyRecord): string {
  if (record.refusal !== undefined) return 'refused';
  return record.cancelled ? 'cancelled' : 'unused';
}
