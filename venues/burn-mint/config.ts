/** Schemas of burn-and-mint: its field in a chain's venue entry, and its node configs. */
import { z } from 'zod';
import { isDecimal } from '../../domain/money.ts';
import {
  addressSchema,
  chainIdSchema,
  paddedAddressSchema,
  rpcUrl,
  uint32,
} from '../evm/config.ts';
import { definePart } from '../evm/part.ts';

/** The `cctp` field of a chain's venue entry (docs/decisions/0073-bridges.md). */
const partSchema = z.strictObject({
  domain: uint32,
  token_messenger: addressSchema,
  message_transmitter: addressSchema,
  /** URL of the attester that signs burns on this chain. */
  attester_url: rpcUrl,
});
export type BurnMintVenue = z.output<typeof partSchema>;

export const burnMintPart = definePart<BurnMintVenue>({
  lane: 'burn_and_mint',
  field: 'cctp',
  schema: partSchema,
  faults: ({ domain }, _chain, { earlier, at }) =>
    earlier.some((other) => other.domain === domain)
      ? [`${at}.domain: domain ${domain} is already another chain's above`]
      : [],
  contracts: ({ token_messenger, message_transmitter }) => [
    ['the token messenger', token_messenger],
    ['the message transmitter', message_transmitter],
  ],
  // The token messenger pulls every token that is burnt, so all tokens share this contract.
  bridge: ({ token_messenger: address }, { tokens }) => ({
    endpoint_identity: null,
    carriers: tokens.map(({ asset }) => ({ asset, address })),
  }),
});

/**
 * Thresholds of the message transmitter. `fast` attests a burn once its block is confirmed, for a
 * fee; `standard` attests once the block is final. Source: `FinalityThresholds.sol` of
 * github.com/circlefin/evm-cctp-contracts.
 */
export const FINALITY_THRESHOLDS = { fast: 1_000, standard: 2_000 } as const;
export type BurnFinality = keyof typeof FINALITY_THRESHOLDS;

/** Not strict: node configs also carry keys for other readers. */
export const burnConfigSchema = z
  .object({
    source_chain_id: chainIdSchema,
    destination_chain_id: chainIdSchema,
    token_address: addressSchema,
    /** Address on the destination chain; also accepted when padded to 32 bytes. */
    mint_recipient: paddedAddressSchema,
    destination_caller: addressSchema.optional(),
    /** Most that the bridge may charge, in units of the asset. */
    max_fee: z.string().refine(isDecimal, 'must be a decimal string').default('0'),
    finality: z.enum(['fast', 'standard']).default('standard'),
  })
  .refine((config) => config.source_chain_id !== config.destination_chain_id, {
    path: ['destination_chain_id'],
    message: 'is the source chain itself; name another chain',
  });
export type BurnConfig = z.output<typeof burnConfigSchema>;

export const mintConfigSchema = z.object({ burn_from: z.string().min(1) });
