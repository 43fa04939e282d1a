/** Records of movements of funds, as an exchange has them in its own books and as we have them. */
import type { TransferAccountType } from '../capital-transfers/topology.ts';
import type { NodeState } from '../states/node.ts';
import type { TransferState } from '../states/capital-transfer.ts';

/** What an exchange's own books say of one movement of funds. */
export const VENUE_RECORD_KINDS = ['withdrawal', 'deposit', 'transfer'] as const;
export type VenueRecordKind = (typeof VENUE_RECORD_KINDS)[number];
export interface VenueRecord {
  readonly kind: VenueRecordKind;
  /** The exchange's id of the record. */
  readonly id: string;
  /** Our reference, which the exchange keeps with it; null: it has none. */
  readonly client_id: string | null;
  /** When it was made, ISO 8601. */
  readonly at: string;
  readonly status: 'pending' | 'credited' | 'completed' | 'failed';
  readonly asset: string;
  /** What left the account (fee included), was credited, or moved. */
  readonly amount: string;
  /** The exchange's fee; null where it has none. */
  readonly fee: string | null;
  readonly network: string | null;
  readonly address: string | null;
  readonly tag: string | null;
  /** Transaction hash, or the exchange's id of a booking within it. */
  readonly transaction: string | null;
  /** Of a transfer: `<account or empty for the master>:<account type>` of each end; else null. */
  readonly source: string | null;
  readonly destination: string | null;
}

/** The fields that our database and an entry of a comparison share. */
interface OurFields {
  readonly kind: VenueRecordKind;
  /** The node, and which attempt of it was sent. Null for a capital transfer. */
  readonly movement_id: string | null;
  readonly node_key: string | null;
  readonly attempt: number | null;
  /** The capital transfer; null for a node. */
  readonly transfer_id: string | null;
  /**
   * Of an attempt that a later one followed: its outcome, or UNKNOWN. Of an abandoned node:
   * UNKNOWN. Otherwise the state of the node or of the transfer.
   */
  readonly state: NodeState | TransferState;
  /** The exchange's id, as it was reported to us. */
  readonly external_ref: string | null;
  readonly asset: string;
  /**
   * What was sent; of a withdrawal within the exchange, whose fee the exchange returns, what its
   * record showed; of a deposit what was credited. Null: not known yet.
   */
  readonly amount: string | null;
  /** The exchange's fee by our output; null: not known. */
  readonly fee: string | null;
  /**
   * Of a withdrawal whose exchange adds a fee that is only known afterwards: the most that the fee
   * may be, which is kept back from what is sent; absent: the amount is what leaves.
   */
  readonly fee_limit?: string;
  readonly network: string | null;
  readonly address: string | null;
  readonly tag: string | null;
  /** Of a deposit: the transaction that its node looks for; null: not known, or no deposit. */
  readonly transaction: string | null;
  /** The exchange made its record, if it has one, between these times; ISO 8601. */
  readonly since: string;
  /** Null: it may still make one. */
  readonly until: string | null;
}

/** One side of a transfer between accounts of an exchange. */
export interface OurTransferSide {
  readonly venue_key: string;
  readonly account_type: TransferAccountType;
}

/** What our database has of one movement of funds. */
export interface StoredRecord extends OurFields {
  /**
   * What the client id of the send is made from: the idempotency key of the attempt, or the
   * reference of the capital transfer. Null for a deposit.
   */
  readonly send_key: string | null;
  /** Of a transfer; else null. */
  readonly source: OurTransferSide | null;
  readonly destination: OurTransferSide | null;
}

/** The same, in the names that the exchange has for it. */
export interface OurRecord extends OurFields {
  /** The client id that was sent; null for a deposit. */
  readonly client_id: string | null;
  /** As in {@link VenueRecord}; null for an account that is not bound, and for other kinds. */
  readonly source: string | null;
  readonly destination: string | null;
}
