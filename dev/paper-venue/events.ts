/** The venue's journal entries. Everything the venue knows is a fold over these, in order. */
import { z } from 'zod';

const integer = z.string().regex(/^-?[0-9]+$/);
const hex = z.custom<`0x${string}`>((value) => typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value));

/** A change of one balance, in the asset's smallest unit. Balances are the sums of these and nothing else. */
export const postingSchema = z.object({
  account: z.string(),
  account_type: z.string(),
  asset: z.string(),
  delta: integer,
});
export type Posting = z.infer<typeof postingSchema>;

/** What an order asks for, as flat text: made by prepare, stored with the order, compared on a repeat. */
export const termsSchema = z.record(z.string(), z.string());
export type Terms = z.infer<typeof termsSchema>;

/** A payment the venue owes on the chain. */
export const transferSchema = z.object({ asset: z.string(), to: hex, units: integer });
export type Transfer = z.infer<typeof transferSchema>;

const at = z.string();
const caller = { idempotency_key: z.string(), movement_id: z.string(), node_key: z.string() };

export const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('opened'), at, identity: z.string(), postings: z.array(postingSchema) }),
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
  /** The exact bytes that will be sent. Written before the first broadcast, and the only ones ever sent. */
  z.object({
    type: z.literal('signed'),
    at,
    order_id: z.string(),
    nonce: z.int(),
    raw_tx: hex,
    tx_hash: hex,
  }),
  z.object({ type: z.literal('mined'), at, order_id: z.string(), succeeded: z.boolean() }),
  /** Without an order: the key was cancelled before it was ever submitted, and can never be used. */
  z.object({ type: z.literal('cancelled'), at, ...caller, order_id: z.string().nullable() }),
]);
export type VenueEvent = z.infer<typeof eventSchema>;
export type AcceptedEvent = Extract<VenueEvent, { type: 'accepted' }>;
