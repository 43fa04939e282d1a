/**
 * The contract between the service and a provider that moves funds between its accounts. Like an
 * executor, a provider sees neither database nor Temporal; unlike one it has no plan: one order,
 * one reference, one record.
 */
import type { CallOptions } from '../executor.ts';
import type { TransferAccount, TransferAccountType } from './topology.ts';

export interface TransferEnd {
  readonly venue_key: string;
  readonly account_type: TransferAccountType;
}

/** What to move. Both ends are accounts of the provider that is called. */
export interface TransferOrder {
  /**
   * A UUID that the provider keeps with its record, and that finds the record when the answer was
   * lost.
   */
  readonly reference: string;
  readonly source: TransferEnd;
  readonly destination: TransferEnd;
  readonly asset: string;
  /** Decimal string in units of the asset. */
  readonly amount: string;
  /**
   * ISO 8601: nothing of this order can be older, for providers whose records are searched by time.
   */
  readonly created_at: string;
  /** The provider's own id of its record, once it has reported it. */
  readonly provider_transfer_id?: string;
}

/** What the provider's record says. */
export type TransferAnswer =
  /** Accepted or still being booked; ask again. */
  | {
      readonly status: 'pending';
      readonly provider_transfer_id?: string;
      readonly retry_after_seconds?: number;
    }
  | { readonly status: 'completed'; readonly provider_transfer_id?: string }
  /** Proven: nothing was moved, and nothing will move under this reference. */
  | {
      readonly status: 'failed';
      readonly provider_transfer_id?: string;
      readonly error_code: string;
      readonly error_message: string;
    };

/** Moves funds between accounts of one scope. */
export interface TransferProvider {
  /** As views show it, for example `paper`. */
  readonly provider: string;
  readonly scope: string;
  readonly accounts: readonly TransferAccount[];
  /** May a submit with the same reference be repeated without a second effect? */
  readonly same_key_safe: boolean;
  /** How long after a send its record may still appear. */
  readonly settle_seconds: number;
  /** Time-out of one call. */
  readonly timeout_seconds: number;
  /**
   * Sends the order once. Throws `ExecutorFault` for everything but a proven answer: the caller
   * then cannot know whether anything was moved, and calls `find`. Must not repeat anything by
   * itself, and must stop when `signal` aborts.
   */
  submit(order: TransferOrder, call: CallOptions): Promise<TransferAnswer>;
  /**
   * The record of this reference; null when there is none (yet). Throws `ExecutorFault` when the
   * provider cannot tell.
   */
  find(order: TransferOrder, call: CallOptions): Promise<TransferAnswer | null>;
}

/**
 * The provider that holds both ends; undefined when this process is not bound to it. An account
 * that was meanwhile bound to another provider does not count.
 */
export function providerOf(
  providers: readonly TransferProvider[],
  row: {
    readonly provider: string;
    readonly source_venue: string;
    readonly destination_venue: string;
  },
): TransferProvider | undefined {
  return providers.find(
    ({ provider, accounts }) =>
      provider === row.provider &&
      [row.source_venue, row.destination_venue].every((venue) =>
        accounts.some(({ venue_key }) => venue_key === venue),
      ),
  );
}
