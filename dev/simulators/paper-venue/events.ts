/** The venue's journal entries. Everything the venue knows is a fold over these, in order. */
import { z } from 'zod';
import { hex } from '../kit/hex.ts';

const integer = z.string().regex(/^-?[0-9]+$/);

/**
 * A change of one balance, in the asset's smallest unit. Balances are the sums of these and nothing
 * else.
 */
export const postingSchema = z.object({
  account: z.string(),
  account_type: z.string(),
  asset: z.string(),
  delta: integer,
});
export type Posting = z.infer<typeof postingSchema>;

/**
 * The request of an order, as flat text: made by prepare, stored with the order, compared on a
 * repeat.
 */
export const termsSchema = z.record(z.string(), z.string());
export type Terms = z.infer<typeof termsSchema>;

/** A payment the venue owes on the chain. */
export const transferSchema = z.object({ asset: z.string(), to: hex, units: integer });
export type Transfer = z.infer<typeof transferSchema>;

/** A transfer between two accounts of the venue, normalised: what is compared on a repeat. */
export const transferTermsSchema = z.object({
  from_account: z.string(),
  from_account_type: z.string(),
  to_account: z.string(),
  to_account_type: z.string(),
  asset: z.string(),
  amount: z.string(),
});
export type TransferTerms = z.infer<typeof transferTermsSchema>;

/** How an accepted transfer ends: `pending` stays so until the test bench settles it. */
export const TRANSFER_OUTCOMES = ['completed', 'failed', 'pending'] as const;
/** The ends that the test bench may give to a pending one. */
export const TRANSFER_ENDS = ['completed', 'failed'] as const;

/** Where withdrawals may go; a null asset stands for all. */
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
  /** A submit arrived; counted only, so it is not worth a flush to disk. */
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
   * The exact bytes that will be sent. Written before the first broadcast, and the only ones ever
   * sent.
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
   * Without an order: the key was cancelled before it was ever submitted, and can never be used.
   */
  z.object({ type: z.literal('cancelled'), at, ...caller, order_id: z.string().nullable() }),
  /** A caller requested a transfer; counted only, like `called`. */
  z.object({ type: z.literal('transfer_called'), at, reference: z.string() }),
  /**
   * The source is debited. `due` is when it ends as `outcome` says, in milliseconds since 1970;
   * null is never by itself.
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
  /** Completed: the destination is credited. Failed: the source gets it back. */
  z.object({
    type: z.literal('transfer_settled'),
    at,
    transfer_id: z.string(),
    outcome: z.enum(TRANSFER_ENDS),
  }),
  /**
   * Tokens came to an account's deposit address. `deposit_id` is the same however often the chain
   * is read.
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
  /** The address book as a whole, replacing the earlier one. */
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
