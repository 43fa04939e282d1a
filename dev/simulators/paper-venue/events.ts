/** The venue's journal events. The venue's whole state is computed from these, in order. */
import { z } from 'zod';
import { hex } from '../kit/hex.ts';

const integer = z.string().regex(/^-?[0-9]+$/);

/** A change of one balance, in the asset's smallest unit. A balance is the sum of its postings. */
export const postingSchema = z.object({
  account: z.string(),
  account_type: z.string(),
  asset: z.string(),
  delta: integer,
});
export type Posting = z.infer<typeof postingSchema>;

/**
 * The request of an order, as flat text: made by prepare, stored with the order, and compared when
 * the request is repeated.
 */
export const termsSchema = z.record(z.string(), z.string());
export type Terms = z.infer<typeof termsSchema>;

/** A payment that the venue must send on the chain. */
export const transferSchema = z.object({ asset: z.string(), to: hex, units: integer });
export type Transfer = z.infer<typeof transferSchema>;

/**
 * A normalised transfer between two accounts of the venue, which is compared when the request is
 * repeated.
 */
export const transferTermsSchema = z.object({
  from_account: z.string(),
  from_account_type: z.string(),
  to_account: z.string(),
  to_account_type: z.string(),
  asset: z.string(),
  amount: z.string(),
});
export type TransferTerms = z.infer<typeof transferTermsSchema>;

/**
 * The outcome of an accepted transfer; `pending` lasts until the test bench settles the transfer.
 */
export const TRANSFER_OUTCOMES = ['completed', 'failed', 'pending'] as const;
/** The outcomes that the test bench may give a pending transfer. */
export const TRANSFER_ENDS = ['completed', 'failed'] as const;

/** An allowed withdrawal address; a null asset means all assets. */
export const addressEntrySchema = z.object({
  asset: z.string().nullable(),
  network: z.string(),
  address: z.string(),
});
export type AddressEntry = z.infer<typeof addressEntrySchema>;

const at = z.string();
const caller = { idempotency_key: z.string(), movement_id: z.string(), node_key: z.string() };

export const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('opened'),
    at,
    identity: z.string(),
    postings: z.array(postingSchema),
  }),
  /** A submit arrived. Only counted, so this event is not flushed to disk. */
  z.object({ type: z.literal('called'), at, ...caller }),
  z.object({
    type: z.literal('accepted'),
    at,
    ...caller,
    order_id: z.string(),
    action_type: z.string(),
    fingerprint: z.string(),
    terms: termsSchema,
    postings: z.array(postingSchema),
    transfer: transferSchema.nullable(),
    not_before: z.number(),
  }),
  z.object({
    type: z.literal('refused'),
    at,
    ...caller,
    action_type: z.string(),
    fingerprint: z.string(),
    error_code: z.string(),
    error_message: z.string(),
  }),
  /**
   * The exact bytes that will be sent. Recorded before the first broadcast; no other bytes are sent
   * for this order.
   */
  z.object({
    type: z.literal('signed'),
    at,
    order_id: z.string(),
    nonce: z.int(),
    raw_tx: hex,
    tx_hash: hex,
  }),
  z.object({ type: z.literal('mined'), at, order_id: z.string(), succeeded: z.boolean() }),
  /**
   * A cancellation. `order_id` null: the key was cancelled before any submit, and can never be
   * used.
   */
  z.object({ type: z.literal('cancelled'), at, ...caller, order_id: z.string().nullable() }),
  /** A caller requested a transfer. Only counted, like `called`. */
  z.object({ type: z.literal('transfer_called'), at, reference: z.string() }),
  /**
   * The transfer was accepted and its source debited. `due` is when it ends with `outcome`, in
   * milliseconds since 1970; null: never without the test bench.
   */
  z.object({
    type: z.literal('transfer_accepted'),
    at,
    reference: z.string(),
    transfer_id: z.string(),
    terms: transferTermsSchema,
    units: integer,
    outcome: z.enum(TRANSFER_OUTCOMES),
    due: z.number().nullable(),
  }),
  z.object({
    type: z.literal('transfer_refused'),
    at,
    reference: z.string(),
    terms: transferTermsSchema,
    error_code: z.string(),
    error_message: z.string(),
  }),
  /**
   * The transfer ended. Completed: the destination is credited. Failed: the source gets the amount
   * back.
   */
  z.object({
    type: z.literal('transfer_settled'),
    at,
    transfer_id: z.string(),
    outcome: z.enum(TRANSFER_ENDS),
  }),
  /**
   * Tokens arrived at an account's deposit address. `deposit_id` stays the same when the chain is
   * read again.
   */
  z.object({
    type: z.literal('deposited'),
    at,
    deposit_id: z.string(),
    account: z.string(),
    asset: z.string(),
    units: integer,
    tx_hash: hex,
  }),
  /** The complete address book, which replaces the earlier one. */
  z.object({
    type: z.literal('address_book'),
    at,
    enabled: z.boolean(),
    entries: z.array(addressEntrySchema),
  }),
]);
export type VenueEvent = z.infer<typeof eventSchema>;
export type EventOf<Type extends VenueEvent['type']> = Extract<VenueEvent, { type: Type }>;
export type AcceptedEvent = EventOf<'accepted'>;
