/**
 * Defines the calls that the service needs from an exchange. ccxt's unified calls lack what
 * protects money (client ids, transfers between accounts, the address book), so each exchange has a
 * dialect.
 */
import type { PoolBalance } from '../../domain/balances.ts';
import {
  TRANSFER_ACCOUNT_TYPES,
  type TransferAccountType,
} from '../../domain/capital-transfers/topology.ts';
import type { CallOptions } from '../../domain/executor.ts';
import type { RequestBudget } from '../../domain/request-desk.ts';
import type { VenueRecord } from '../../domain/reconcile/records.ts';
import type { WithdrawalOutlook, WithdrawalQuota } from '../../domain/withdrawal-outlook.ts';
import type { CexConnection, Parameters } from './connection.ts';
import type { CexCredentials } from './credentials.ts';

/** Pools whose balances may be fetched. Pools that no transfer can use are only displayed. */
export const BALANCE_ACCOUNT_TYPES = [...TRANSFER_ACCOUNT_TYPES, 'FUNDING', 'FUND'] as const;
export type BalanceAccountType = (typeof BALANCE_ACCOUNT_TYPES)[number];

/** The exchange's terms for withdrawing one asset over one network. Amounts are decimal strings. */
export interface WithdrawalTerms {
  readonly enabled: boolean;
  readonly min: string;
  /** Largest amount; null: no limit. */
  readonly max: string | null;
  /** Amounts must be multiples of this step; null: any amount. */
  readonly step: string | null;
  /**
   * Fee that the exchange keeps from the amount; where it is only known afterwards, the most that
   * it may be: the order's `fee_limit`.
   */
  readonly fee: string;
  /** Pattern of the whole address; null if the exchange has no usable pattern. */
  readonly address_pattern: string | null;
  readonly tag_pattern: string | null;
  /** ISO 8601: when the exchange expects to pay out again; null: not known, or enabled. */
  readonly opens_at: string | null;
  /** What the account may still withdraw at present; null: the exchange does not show it. */
  readonly quota: WithdrawalQuota | null;
}

export interface BookEntry {
  readonly address: string;
  readonly tag: string | null;
  /** The asset of the entry; null: every asset. A `network` of null means every network. */
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
  /** The amount that leaves the account, including the fee. */
  readonly amount: string;
  /** The most that the exchange's fee may be, in units of the asset; null: the plan sets none. */
  readonly fee_limit: string | null;
}

/**
 * What a withdrawal has to name at this exchange besides its order, such as the fee or the label of
 * an address. It is stored before the send, which uses these very values.
 */
export type Quote = Readonly<Record<string, string>>;

export type RecordStatus = 'pending' | 'completed' | 'failed';

export interface WithdrawalRecord {
  readonly id: string;
  readonly status: RecordStatus;
  /** The exchange's own status text, for messages. */
  readonly exchange_status: string;
  readonly asset: string;
  readonly network: string | null;
  readonly address: string;
  readonly tag: string | null;
  /** The amount that the destination gets, without the exchange's fee. */
  readonly net_amount: string;
  /** In units of `fee_asset`. */
  readonly fee: string;
  /** The asset of the fee; absent: the record's. */
  readonly fee_asset?: string;
  /** Transaction hash on the chain; null for a booking within the exchange. */
  readonly tx_hash: string | null;
  /** The transaction hash, or the exchange's id of the booking; null: neither exists yet. */
  readonly transaction: string | null;
  /**
   * What may have left the account, where the exchange's words leave open whether its amount
   * includes the fee; absent: `net_amount` and `fee` together.
   */
  readonly gross_amounts?: readonly string[];
}

/** A withdrawal in a list of the account's withdrawals. */
export interface ListedWithdrawal extends WithdrawalRecord {
  /** ISO 8601, by the exchange's clock: when it was requested. */
  readonly at: string;
}

export interface WithdrawalQuery {
  readonly client_id: string;
  readonly asset: string;
  readonly period: Period;
  /** What was sent, for an exchange whose records have to be compared with more than the id. */
  readonly order?: WithdrawalOrder;
  /** The exchange's id of the withdrawal; undefined: its answer was lost. */
  readonly reference?: string | undefined;
}

/** How a withdrawal is found again, also if its answer was lost. */
export type WithdrawalSearch =
  | {
      /** The exchange stores our client id with the withdrawal. */
      readonly by: 'client_id';
      /** Returns every withdrawal with the client id in the period. */
      find(
        connection: CexConnection,
        of: WithdrawalQuery,
        call: CallOptions,
      ): Promise<readonly WithdrawalRecord[]>;
    }
  | {
      /**
       * The exchange stores no id of ours. Before a send its withdrawals are listed as a baseline,
       * and what is new afterwards may be ours.
       */
      readonly by: 'baseline';
      /** Returns every withdrawal of the asset in the period. */
      list(
        connection: CexConnection,
        of: { readonly asset: string; readonly period: Period },
        call: CallOptions,
      ): Promise<readonly ListedWithdrawal[]>;
    };

export interface DepositRecord {
  readonly id: string;
  /** `credited`: part of the balance, but not withdrawable yet. */
  readonly status: RecordStatus | 'credited';
  readonly exchange_status: string;
  readonly asset: string;
  readonly network: string | null;
  readonly amount: string;
  readonly transaction: string;
}

export interface TransferEndOfExchange {
  /** The exchange's name of the sub-account; null for the master account. */
  readonly sub_account: string | null;
  readonly account_type: TransferAccountType;
}

export interface ExchangeTransfer {
  /** Our reference: a UUID, or 32 hex digits. */
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
  /** `account` is the exchange's own name of the account; a master has one too. */
  readonly source: { readonly account: string; readonly account_type: string };
  readonly destination: { readonly account: string; readonly account_type: string };
}

/** A period in milliseconds since 1970, both ends included. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** Whether a repeated send is safe, and how long after a send its record may still appear. */
export interface SendGuarantee {
  readonly same_key_safe: boolean;
  readonly settle_seconds: number;
  /** How far back a search for a send reaches, in milliseconds. */
  readonly keeps: number;
}

/** Requests of one name are sent at least so many seconds apart. */
export interface Spacing {
  readonly name: string;
  readonly seconds: number;
  /** Returns the parameters that hold the time of the request, which the wait has made old. */
  stamp?(): Parameters;
}

export interface Dialect {
  /** Returns what is wrong with an account's name; null when it is valid. */
  accountFault(account: string, role: 'master' | 'sub'): string | null;
  /** Returns what is wrong with the form of a key, never its text; null or absent: nothing. */
  credentialsFault?(keys: CexCredentials): string | null;
  /** Why the exchange's sandbox cannot be used; absent: it can. */
  readonly sandbox_fault?: string;
  /** Returns the exchange's code and message from an error's body; null when the body has none. */
  readError(body: unknown): { readonly code: string; readonly message: string } | null;
  /** True: errors may come with a status of 2xx, so `readError` reads every answer. */
  readonly errors_with_success?: true;
  /**
   * The exchange's codes that prove that nothing was done, each with our code. A code with any
   * other possible meaning must not be in this list.
   */
  readonly refusals: Readonly<Record<string, string>>;
  /** Codes that mean too many requests, with whatever status. */
  readonly rate_limit_codes?: readonly string[];
  /** For how many seconds such a code stops the key; others, and without a header: ten seconds. */
  readonly rate_limit_pauses?: Readonly<Record<string, number>>;
  /** The budget of an API key, in the library's units of cost; absent: the library's own rate. */
  readonly budget?: RequestBudget;
  /**
   * Returns the distance that the exchange requires between requests such as this one; null: none.
   * `method` is as in {@link CexConnection.ask}.
   */
  spacing?(method: string, parameters: Parameters): Spacing | null;
  /**
   * True: the exchange accepts an API key's requests only with a nonce above all earlier ones, so
   * they are sent one after another, over all processes.
   */
  readonly growing_nonce?: true;

  /** Returns the exchange's own time, in milliseconds since 1970. */
  time(connection: CexConnection, call: CallOptions): Promise<number>;

  /** Most decimals that the exchange accepts in a transfer between accounts. */
  readonly transfer_decimals: number;
  readonly withdrawals: SendGuarantee;
  /** Null: the exchange has no transfers between accounts that can be found again. */
  readonly transfers: SendGuarantee | null;
  /**
   * True: the exchange shows its fee after a send alone, adds it to what is sent, and has no
   * parameter that bounds it. Orders then need a `fee_limit`; `amount` without it is what is sent
   * (docs/decisions/0133-a-fee-that-is-known-afterwards.md).
   */
  readonly fee_after_send?: true;
  /** True: the exchange adds its fee to what is sent; absent: it keeps the fee from the amount. */
  readonly fee_on_top?: true;

  /** Returns why the key does not work or lacks a needed permission; null when the key is fine. */
  keyFault(
    connection: CexConnection,
    needs: { readonly withdraw: boolean },
    call: CallOptions,
  ): Promise<string | null>;
  /**
   * Returns why the key is not of the bound account; null when it is. Absent: the exchange does not
   * show the account of a key. Sends run after it, so it asks the exchange once per connection. A
   * property, since it is used without its dialect.
   */
  readonly bindingFault?: (
    connection: CexConnection,
    binding: { readonly account: string; readonly account_role: 'master' | 'sub' },
    call: CallOptions,
  ) => Promise<string | null>;

  /**
   * The pools that an account's own key shows (`own`), and those of a sub-account that the master's
   * key shows (`sub`).
   */
  readonly account_types: {
    readonly own: readonly BalanceAccountType[];
    readonly sub: readonly BalanceAccountType[];
  };
  /** Reads the pools of the connection's own account. */
  balances(
    connection: CexConnection,
    types: readonly BalanceAccountType[],
    call: CallOptions,
  ): Promise<readonly PoolBalance[]>;
  /** Reads the pools of a sub-account with its master's key. */
  subBalances(
    master: CexConnection,
    account: { readonly sub_account: string; readonly types: readonly BalanceAccountType[] },
    call: CallOptions,
  ): Promise<readonly PoolBalance[]>;

  /** Returns the terms; null when the exchange does not offer the asset on that network. */
  withdrawalTerms(
    connection: CexConnection,
    order: WithdrawalOrder,
    call: CallOptions,
  ): Promise<WithdrawalTerms | null>;
  /**
   * Reads what the account may still withdraw, and which networks of these assets do not pay out at
   * present; absent if the exchange shows neither of them for few requests. Each fetch of balances
   * makes this call.
   */
  outlook?(
    connection: CexConnection,
    assets: readonly string[],
    call: CallOptions,
  ): Promise<WithdrawalOutlook>;
  /** Reads the account's address book; absent if the exchange has no call for it. */
  addressBook?(connection: CexConnection, call: CallOptions): Promise<readonly BookEntry[]>;
  /** True: the exchange itself pays no address for an API key that its address book lacks. */
  readonly book_enforced?: true;
  /** Returns a client id that this exchange accepts, always the same for the same key. */
  withdrawalId(idempotencyKey: string): string;
  /**
   * Reads what the withdrawal must name besides its order; absent: nothing. Throws a `rejected`
   * fault when the exchange cannot make this withdrawal, or takes a fee above the order's limit.
   */
  quote?(connection: CexConnection, order: WithdrawalOrder, call: CallOptions): Promise<Quote>;
  /** Sends the withdrawal once, in one request; returns the exchange's id. */
  withdraw(
    connection: CexConnection,
    order: WithdrawalOrder,
    quote: Quote,
    call: CallOptions,
  ): Promise<string>;
  /**
   * Finds withdrawals again. Its calls throw `HISTORY_TOO_OLD` if the period starts before the
   * exchange's history.
   */
  readonly search: WithdrawalSearch;
  /** Cancels the withdrawal; absent if the exchange cannot cancel. */
  cancelWithdrawal?(connection: CexConnection, id: string, call: CallOptions): Promise<void>;

  findDeposits(
    connection: CexConnection,
    of: { readonly transaction: string; readonly asset: string; readonly period: Period },
    call: CallOptions,
  ): Promise<readonly DepositRecord[]>;

  /** Returns the client id that the exchange stores for a transfer's reference. */
  transferId(reference: string): string;
  /** Sends the transfer once, with the master's key; returns the exchange's id. */
  transfer(master: CexConnection, transfer: ExchangeTransfer, call: CallOptions): Promise<string>;
  findTransfers(
    master: CexConnection,
    transfer: ExchangeTransfer,
    period: Period,
    call: CallOptions,
  ): Promise<readonly TransferRecord[]>;

  /**
   * Returns every withdrawal, deposit and transfer of the account in the period, from the
   * exchange's own books, in no order. `subs` are the bound sub-accounts of a master, in the
   * exchange's names. Null: the account is a sub-account, whose transfers its master's key lists.
   * Throws `HISTORY_TOO_OLD` if the period starts before the exchange's history.
   */
  records(
    connection: CexConnection,
    of: { readonly period: Period; readonly subs: readonly string[] | null },
    call: CallOptions,
  ): Promise<readonly VenueRecord[]>;
}
