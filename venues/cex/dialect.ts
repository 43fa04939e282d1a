/**
 * What we need from an exchange, in our terms. ccxt's unified calls lack what protects money
 * (client ids, transfers between accounts, the address book), so each exchange has a dialect of its
 * own.
 */
import type { PoolBalance } from '../../domain/balances.ts';
import {
  TRANSFER_ACCOUNT_TYPES,
  type TransferAccountType,
} from '../../domain/capital-transfers/topology.ts';
import type { CallOptions } from '../../domain/executor.ts';
import type { CexConnection } from './connection.ts';

/** Pools whose balances may be fetched. Those that transfers do not name are only shown. */
export const BALANCE_ACCOUNT_TYPES = [...TRANSFER_ACCOUNT_TYPES, 'FUNDING', 'FUND'] as const;
export type BalanceAccountType = (typeof BALANCE_ACCOUNT_TYPES)[number];

/** The exchange's terms for withdrawing one asset over one network. Amounts are decimal strings. */
export interface WithdrawalTerms {
  readonly enabled: boolean;
  readonly min: string;
  /** Null: none. */
  readonly max: string | null;
  /** Amounts must be multiples of it. Null: any. */
  readonly step: string | null;
  /** What the exchange keeps of the amount. */
  readonly fee: string;
  /** Patterns of the whole text; null where the exchange has no usable one. */
  readonly address_pattern: string | null;
  readonly tag_pattern: string | null;
}

export interface BookEntry {
  readonly address: string;
  readonly tag: string | null;
  /** Null: every asset, every network. */
  readonly asset: string | null;
  readonly network: string | null;
  readonly whitelisted: boolean;
}

export interface WithdrawalOrder {
  readonly client_id: string;
  readonly asset: string;
  readonly network: string;
  readonly address: string;
  readonly tag: string | null;
  /** What leaves the account. */
  readonly amount: string;
}

export type RecordStatus = 'pending' | 'completed' | 'failed';

export interface WithdrawalRecord {
  readonly id: string;
  readonly status: RecordStatus;
  /** The exchange's own status, for messages. */
  readonly exchange_status: string;
  readonly asset: string;
  readonly network: string | null;
  readonly address: string;
  readonly tag: string | null;
  /** The amount that the destination gets, and the exchange's fee. */
  readonly net_amount: string;
  readonly fee: string;
  /** Null for a booking within the exchange. */
  readonly tx_hash: string | null;
  /** The hash, or the exchange's id of the booking. */
  readonly transaction: string | null;
}

export interface DepositRecord {
  readonly id: string;
  /** `credited`: counted in the balance, but not withdrawable yet. */
  readonly status: RecordStatus | 'credited';
  readonly exchange_status: string;
  readonly asset: string;
  readonly network: string | null;
  readonly amount: string;
  readonly transaction: string;
}

export interface TransferEndOfExchange {
  /** Null for the master account. */
  readonly sub_account: string | null;
  readonly account_type: TransferAccountType;
}

export interface ExchangeTransfer {
  /** A UUID. */
  readonly reference: string;
  readonly source: TransferEndOfExchange;
  readonly destination: TransferEndOfExchange;
  readonly asset: string;
  readonly amount: string;
}

export interface TransferRecord {
  readonly id: string;
  readonly status: RecordStatus;
  readonly exchange_status: string;
  readonly asset: string;
  readonly amount: string;
  /** The accounts by the exchange's own names, also a master's. */
  readonly source: { readonly account: string; readonly account_type: string };
  readonly destination: { readonly account: string; readonly account_type: string };
}

/** Milliseconds since 1970, both ends included. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** Whether repeating a send is safe, and how long after a send its record may still appear. */
export interface SendGuarantee {
  readonly same_key_safe: boolean;
  readonly settle_seconds: number;
}

export interface Dialect {
  /** What is wrong with an account's name; null when nothing is. */
  accountFault(account: string, role: 'master' | 'sub'): string | null;
  /** The exchange's code and message in an error's body; null when it has none. */
  readError(body: unknown): { readonly code: string; readonly message: string } | null;
  /**
   * The exchange's codes that prove that nothing was done, each with our code. A code that may also
   * mean something else must not be here.
   */
  readonly refusals: Readonly<Record<string, string>>;

  /** The exchange's own time in milliseconds. */
  time(connection: CexConnection, call: CallOptions): Promise<number>;

  /** Decimals of amounts that are moved between accounts. */
  readonly transfer_decimals: number;
  readonly withdrawals: SendGuarantee;
  readonly transfers: SendGuarantee;

  /** Why the key does not work or lacks a needed permission; null where it is fine. */
  keyFault(
    connection: CexConnection,
    needs: { readonly withdraw: boolean },
    call: CallOptions,
  ): Promise<string | null>;

  /**
   * The pools that an account's own key shows, and those of a sub-account that its master's shows.
   */
  readonly account_types: {
    readonly own: readonly BalanceAccountType[];
    readonly sub: readonly BalanceAccountType[];
  };
  /** The pools of the connection's own account. */
  balances(
    connection: CexConnection,
    types: readonly BalanceAccountType[],
    call: CallOptions,
  ): Promise<readonly PoolBalance[]>;
  /** The pools of a sub-account, read with its master's key. */
  subBalances(
    master: CexConnection,
    account: { readonly sub_account: string; readonly types: readonly BalanceAccountType[] },
    call: CallOptions,
  ): Promise<readonly PoolBalance[]>;

  /** Null when the exchange does not offer the asset on that network. */
  withdrawalTerms(
    connection: CexConnection,
    of: { asset: string; network: string },
    call: CallOptions,
  ): Promise<WithdrawalTerms | null>;
  /** The account's address book; absent where the exchange has no call for it. */
  addressBook?(connection: CexConnection, call: CallOptions): Promise<readonly BookEntry[]>;
  /** A client id that this exchange accepts, always the same for the same key. */
  withdrawalId(idempotencyKey: string): string;
  /** Sends it once; returns the exchange's id. */
  withdraw(connection: CexConnection, order: WithdrawalOrder, call: CallOptions): Promise<string>;
  /**
   * Every withdrawal of the client id in the period. Throws `HISTORY_TOO_OLD` where the period
   * starts before the exchange's history.
   */
  findWithdrawals(
    connection: CexConnection,
    of: { readonly client_id: string; readonly asset: string; readonly period: Period },
    call: CallOptions,
  ): Promise<readonly WithdrawalRecord[]>;
  /** Absent where a withdrawal cannot be cancelled. */
  cancelWithdrawal?(connection: CexConnection, id: string, call: CallOptions): Promise<void>;

  findDeposits(
    connection: CexConnection,
    of: { readonly transaction: string; readonly asset: string; readonly period: Period },
    call: CallOptions,
  ): Promise<readonly DepositRecord[]>;

  /** Sends it once, with the master's key; returns the exchange's id. */
  transfer(master: CexConnection, transfer: ExchangeTransfer, call: CallOptions): Promise<string>;
  findTransfers(
    master: CexConnection,
    transfer: ExchangeTransfer,
    period: Period,
    call: CallOptions,
  ): Promise<readonly TransferRecord[]>;
}
