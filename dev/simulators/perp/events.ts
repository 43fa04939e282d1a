/** The journal's entries. Each contains all its changes, so that a replay makes no decisions. */
import { z } from 'zod';
import { hex } from '../kit/hex.ts';
import { addressSchema } from './actions.ts';

/** Milliseconds since 1970. */
const at = z.int();
/** Millionths of USDC as a string; may be negative. */
const micro = z.string().regex(/^-?\d+$/);
/** Key of a withdrawal: `<user>:<nonce of the action>`. */
const key = z.string();

export const rowSchema = z.strictObject({
  /** Accounts whose ledgers show the row. */
  users: z.array(addressSchema),
  time: at,
  hash: hex,
  delta: z.record(z.string(), z.unknown()),
});
export type Row = z.infer<typeof rowSchema>;

const effectSchema = z.discriminatedUnion('does', [
  /** Changes a balance; creates an account for an unknown address. */
  z.strictObject({
    does: z.literal('change'),
    user: addressSchema,
    pool: z.enum(['perp', 'spot']),
    by: micro,
  }),
  z.strictObject({ does: z.literal('row'), row: rowSchema }),
  /** Sets an account's traded volume, in millionths. */
  z.strictObject({ does: z.literal('traded'), user: addressSchema, volume: micro }),
  z.strictObject({
    does: z.literal('sub_account'),
    master: addressSchema,
    name: z.string(),
    address: addressSchema,
  }),
  /** Approves an agent; replaces the agent of the same name. */
  z.strictObject({
    does: z.literal('agent'),
    master: addressSchema,
    name: z.string(),
    address: addressSchema,
    validUntil: at,
  }),
  z.strictObject({ does: z.literal('agent_gone'), master: addressSchema, name: z.string() }),
  z.strictObject({
    does: z.literal('withdrawal'),
    key,
    user: addressSchema,
    destination: addressSchema,
    /** The amount to pay, after the fee. */
    net: micro,
    nonce: z.int(),
  }),
  /** The payout was signed. Signed once; the same bytes are sent until they are mined. */
  z.strictObject({
    does: z.literal('payout_signed'),
    key,
    raw: hex,
    hash: hex,
    chainNonce: z.int(),
  }),
  /** The payout's transaction failed on the chain; another transaction is signed. */
  z.strictObject({ does: z.literal('payout_failed'), key }),
  z.strictObject({ does: z.literal('paid'), key }),
  z.strictObject({
    does: z.literal('deposit'),
    /** `<transaction>:<index among its transfers to the bridge>`. */
    key,
    from: addressSchema,
    units: micro,
    credited: z.boolean(),
  }),
]);
export type Effect = z.infer<typeof effectSchema>;

const effects = z.array(effectSchema);

export const entrySchema = z.discriminatedUnion('kind', [
  /** A call of `POST /exchange`, and its effects. */
  z.strictObject({
    kind: z.literal('exchange'),
    at,
    body: z.string(),
    signer: addressSchema.nullable(),
    nonce: z.int().nullable(),
    /**
     * Whether the nonce was admitted and so is used up, also when the action was refused after
     * that.
     */
    admitted: z.boolean(),
    status: z.int(),
    answer: z.unknown(),
    /** false: the connection was dropped instead of a response. */
    answered: z.boolean(),
    effects,
  }),
  /** Events observed or caused on the chain. */
  z.strictObject({ kind: z.literal('chain'), at, effects }),
  /** Changes that people or tests made through the admin routes. */
  z.strictObject({ kind: z.literal('admin'), at, effects }),
]);
export type Entry = z.infer<typeof entrySchema>;
export type ExchangeEntry = Extract<Entry, { kind: 'exchange' }>;
