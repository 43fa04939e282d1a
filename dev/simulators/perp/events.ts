/** The journal's entries, each with all its changes, so that a replay decides nothing. */
import { z } from 'zod';
import { hex } from '../kit/hex.ts';
import { addressSchema } from './actions.ts';

/** Milliseconds since 1970. */
const at = z.int();
/** Millionths of USDC, maybe negative, as a string. */
const micro = z.string().regex(/^-?\d+$/);
/** Which withdrawal: `<user>:<nonce of the action>`. */
const key = z.string();

export const rowSchema = z.strictObject({
  /** Whose ledgers show it. */
  users: z.array(addressSchema),
  time: at,
  hash: hex,
  delta: z.record(z.string(), z.unknown()),
});
export type Row = z.infer<typeof rowSchema>;

const effectSchema = z.discriminatedUnion('does', [
  /** An address that is not known yet becomes an account with it. */
  z.strictObject({
    does: z.literal('change'),
    user: addressSchema,
    pool: z.enum(['perp', 'spot']),
    by: micro,
  }),
  z.strictObject({ does: z.literal('row'), row: rowSchema }),
  /** What an account has traded, in millionths. */
  z.strictObject({ does: z.literal('traded'), user: addressSchema, volume: micro }),
  z.strictObject({
    does: z.literal('sub_account'),
    master: addressSchema,
    name: z.string(),
    address: addressSchema,
  }),
  /** Takes the place of the agent of this name. */
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
    /** What is paid, the fee taken off. */
    net: micro,
    nonce: z.int(),
  }),
  /** Signed once; these bytes are sent until they are mined. */
  z.strictObject({
    does: z.literal('payout_signed'),
    key,
    raw: hex,
    hash: hex,
    chainNonce: z.int(),
  }),
  /** The transaction failed on the chain; another one is signed. */
  z.strictObject({ does: z.literal('payout_failed'), key }),
  z.strictObject({ does: z.literal('paid'), key }),
  z.strictObject({
    does: z.literal('deposit'),
    /** `<transaction>:<which of its transfers to the bridge>`. */
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
    /** Its nonce is used up, whether or not it was refused then. */
    admitted: z.boolean(),
    status: z.int(),
    answer: z.unknown(),
    /** false: the connection was dropped instead. */
    answered: z.boolean(),
    effects,
  }),
  /** What was seen or done on the chain. */
  z.strictObject({ kind: z.literal('chain'), at, effects }),
  /** Changes by people and tests. */
  z.strictObject({ kind: z.literal('admin'), at, effects }),
]);
export type Entry = z.infer<typeof entrySchema>;
export type ExchangeEntry = Extract<Entry, { kind: 'exchange' }>;
