/**
 * The actions of `POST /exchange` that this venue supports, and their envelope. Shapes: DOC:
 * exchange-endpoint, and `hyperliquid/utils/signing.py` of github.com/hyperliquid-dex/
 * hyperliquid-python-sdk; docs/perps-venue-facts.md 1.1 and 1.3. Other fields are ignored.
 */
import { z } from 'zod';
import { address, type Hex } from '../kit/hex.ts';

/** An address in lower case, as in all map keys here. */
export const addressSchema = address.transform(lower);
const milliseconds = z.int().min(0);

export function lower(of: string): Hex {
  return of.toLowerCase() as Hex;
}

/** Fields of every user-signed action. */
const userSigned = {
  /** Any chain id: used only in the signing domain, so that any wallet can sign. */
  signatureChainId: z.custom<Hex>(
    (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{1,12}$/.test(value),
  ),
  hyperliquidChain: z.enum(['Mainnet', 'Testnet']),
};

const userSignedSchema = z.discriminatedUnion('type', [
  z.object({
    ...userSigned,
    type: z.literal('withdraw3'),
    // Signed as a string, so the case of its letters matters.
    destination: address,
    amount: z.string(),
    time: milliseconds,
  }),
  z.object({
    ...userSigned,
    type: z.literal('usdSend'),
    destination: address,
    amount: z.string(),
    time: milliseconds,
  }),
  z.object({
    ...userSigned,
    type: z.literal('sendAsset'),
    destination: address,
    sourceDex: z.string(),
    destinationDex: z.string(),
    token: z.string(),
    amount: z.string(),
    fromSubAccount: z.union([z.literal(''), address]),
    nonce: milliseconds,
  }),
  z.object({
    ...userSigned,
    type: z.literal('usdClassTransfer'),
    /** The amount; for a sub-account, ` subaccount:0x…` follows it. */
    amount: z.string(),
    toPerp: z.boolean(),
    nonce: milliseconds,
  }),
  z.object({
    ...userSigned,
    type: z.literal('approveAgent'),
    agentAddress: addressSchema,
    /** Null or missing is signed as the empty name. */
    agentName: z.string().nullish(),
    nonce: milliseconds,
  }),
]);
export type UserSignedAction = z.infer<typeof userSignedSchema>;

/** The fields are in the order of the venue's encoding, which affects the hash. */
const l1Schema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('subAccountTransfer'),
    subAccountUser: addressSchema,
    isDeposit: z.boolean(),
    usd: z.int().min(0),
  }),
  z.object({ type: z.literal('createSubAccount'), name: z.string().min(1).max(16) }),
  z.object({ type: z.literal('noop') }),
]);
export type L1Action = z.infer<typeof l1Schema>;
export type Action = UserSignedAction | L1Action;

export const envelopeSchema = z.object({
  action: z.union([userSignedSchema, l1Schema]),
  nonce: milliseconds,
  signature: z.object({
    r: z.string().regex(/^0x[0-9a-fA-F]{1,64}$/),
    s: z.string().regex(/^0x[0-9a-fA-F]{1,64}$/),
    v: z.union([z.literal(27), z.literal(28)]),
  }),
  vaultAddress: addressSchema.nullish(),
  expiresAfter: milliseconds.nullish(),
});
export type Envelope = z.infer<typeof envelopeSchema>;

export function isUserSigned(action: Action): action is UserSignedAction {
  return 'signatureChainId' in action;
}

/** Returns the nonce inside a user-signed action; null for other actions, which have none. */
export function ownNonce(action: Action): number | null {
  if (!isUserSigned(action)) return null;
  return 'time' in action ? action.time : action.nonce;
}
