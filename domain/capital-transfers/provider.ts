/**
 * The contract between the service and a provider that moves funds between its accounts. A provider
 * sees neither the database nor Temporal, like an executor. Unlike an executor it has no plan: one
 * order has one reference and one record.
 */
import type { CallOptions } from '../executor.ts';
import type { TransferAccount, TransferAccountType } from './topology.ts';

export interface TransferEnd {
  readonly venue_key: string;
  readonly account_type: TransferAccountType;
}

/** The transfer to make. Both ends are accounts of the called provider. */
export interface TransferOrder {
  /**
   * A UUID that the provider stores with its record. If the answer is lost, the UUID finds the
   * record.
   */
  readonly reference: string;
  readonly source: TransferEnd;
  readonly destination: TransferEnd;
  readonly asset: string;
  /** Decimal string in units of the asset. */
  readonly amount: string;
  /**
   * ISO 8601. No record of this order is older; for providers whose records are searched by time.
   */
  readonly created_at: string;
  /**
   * Which accounts the ends were at the transfer's creation, as `transferEntries` says it; absent
   * where nothing was recorded.
   */
  readonly venue_entries?: string;
  /** The provider's own id of its record; absent until the provider has reported it. */
  readonly provider_transfer_id?: string;
}

/** What the provider's record shows. */
export type TransferAnswer =
  /** Accepted or not booked yet; ask again later. */
  | {
      readonly status: 'pending';
      readonly provider_transfer_id?: string;
      readonly retry_after_seconds?: number;
    }
  | { readonly status: 'completed'; readonly provider_transfer_id?: string }
  /** Proven: nothing was moved, and nothing will be moved under this reference. */
  | {
      readonly status: 'failed';
      readonly provider_transfer_id?: string;
      readonly error_code: string;
      readonly error_message: string;
    };

/**
 * Codes of a `find` that is answered although no {@link TransferAnswer} fits: several records under
 * the reference, or one of another transfer. The provider has something, so nothing is proven to
 * have failed.
 */
export const SHOWN_OTHERWISE: readonly string[] = ['TRANSFER_DUPLICATED', 'TRANSFER_MISMATCH'];

/** A provider that moves funds between accounts of one scope. */
export interface TransferProvider {
  /** Name shown in views, for example `paper`. */
  readonly provider: string;
  readonly scope: string;
  readonly accounts: readonly TransferAccount[];
  /** True: a submit with the same reference may be repeated without a second effect. */
  readonly same_key_safe: boolean;
  /** How long after a send the provider's record may still appear. */
  readonly settle_seconds: number;
  /** Longest time of one call. */
  readonly timeout_seconds: number;
  /**
   * True: this process itself calls the venue, so after its call has ended nothing more is sent.
   * False: another process does so, and may still send until the send's window is over.
   */
  readonly in_process: boolean;
  /**
   * Sends the order once. Throws `ExecutorFault` unless the answer is proven: the caller then
   * cannot know whether anything was moved, and calls `find`. Must not repeat anything by itself,
   * and must stop when `signal` aborts.
   */
  submit(order: TransferOrder, call: CallOptions): Promise<TransferAnswer>;
  /**
   * Returns the record of this reference; null if there is none (yet). Throws `ExecutorFault` if
   * the provider cannot report it, and with a code of {@link SHOWN_OTHERWISE} if it shows several
   * records, or one of another transfer.
   */
  find(order: TransferOrder, call: CallOptions): Promise<TransferAnswer | null>;
}

/**
 * Returns the provider that holds both ends; undefined if this process is not bound to that
 * provider. An account that is now bound to another provider does not count.
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
