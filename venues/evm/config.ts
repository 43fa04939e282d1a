/** Schemas of an EVM chain's venue entry and of the configs of EVM nodes. */
import { z } from 'zod';
import { readFinality, type ChainFinality } from '../../domain/chains/finality.ts';
import { FINALITY_READS } from '../../domain/chains/finality-table.ts';
import type { Caps } from '../../domain/lanes/caps.ts';
import { isDecimal, isPositive } from '../../domain/money.ts';
import type { DepositVenue } from '../../domain/plan/tokens.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import { venueKeySchema, type VenueEntry } from '../entry.ts';
import type { ChainPart, OwnContract, PartedChain } from './part.ts';

const gwei = z
  .string()
  .regex(
    /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/,
    'must be gwei as a decimal string such as "80" or "0.5"',
  );

/** 0.05 of the chain's own coin: the cost of a token transfer on Ethereum at about 300 gwei. */
export const DEFAULT_MAX_GAS_COST_WEI = '50000000000000000';
const wei = z
  .string()
  .regex(
    /^[1-9][0-9]{0,29}$/,
    'must be wei as a whole number greater than zero, such as "50000000000000000"',
  );

export const rpcUrl = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}, 'must be an http or https URL');

/** A well-formed, non-zero address, checksummed; the message names the broken rule. */
export const addressSchema = z.string().transform((text, context) => {
  const reading = readEvmAddress(text);
  if (reading.ok) return reading.address;
  context.addIssue({
    code: 'custom',
    message: `is not usable: ${reading.problem === 'checksum' ? 'its checksum is wrong' : reading.problem}`,
  });
  return z.NEVER;
});

/** An address as in {@link addressSchema}, also accepted when padded to 32 bytes. */
export const paddedAddressSchema = z
  .string()
  .transform((text) => text.replace(/^0x0{24}(?=[0-9a-fA-F]{40}$)/, '0x'))
  .pipe(addressSchema);

/**
 * The symbol of an asset in upper case. Intents store upper case, and the two texts must be equal.
 */
export const symbol = z
  .string()
  .regex(/^[A-Z0-9][A-Z0-9._-]{0,31}$/, 'must be 1 to 32 of upper-case letters, digits and . _ -');

const tokenSchema = z.strictObject({
  asset: symbol,
  address: addressSchema,
  /** A token that reports others is not moved. Absent: two endpoints must agree, if bound. */
  decimals: z.number().int().min(0).max(255).optional(),
});

/** A number of 32 bits, as bridge domains and endpoint ids are. */
export const uint32 = z.number().int().min(0).max(0xffff_ffff);

const entrySchema = z.strictObject({
  venue_key: venueKeySchema,
  provider: z.literal('evm'),
  chain_id: z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
  rpc_url: rpcUrl,
  /** Other endpoints of the chain, used if the first does not answer and to confirm absences. */
  more_rpc_urls: z.array(rpcUrl).max(8).default([]),
  /** Blocks, including the transaction's own, for assurances weaker than "finalized". */
  confirmations: z.number().int().min(1).max(10_000).default(1),
  /** How the chain becomes final; absent: as domain/chains/finality-table.ts says. */
  finality: z.enum(FINALITY_READS).optional(),
  /** Depth at which a block is final, on chains whose finality is counted in blocks. */
  finality_confirmations: z.number().int().min(1).max(1_000_000).optional(),
  /** Why fewer blocks than the finality table requires are enough here. */
  finality_override: z.strictObject({ reason: z.string().trim().min(1).max(500) }).optional(),
  /** No transaction is prepared while the chain requires a higher fee. */
  max_fee_per_gas_gwei: gwei.optional(),
  /** Most that one transaction may cost its signer, in wei. */
  max_gas_cost_wei: wei.default(DEFAULT_MAX_GAS_COST_WEI),
  /** Contract that reports the layer-1 fee, on rollups that charge one. */
  l1_fee_oracle: addressSchema.optional(),
  native_asset: symbol.default('ETH'),
  /** The tokens of this chain that nodes may move, each under the asset that intents name. */
  tokens: z.array(tokenSchema).default([]),
  /** Contracts to check for allowances of signers, beside those found in logs. */
  spenders: z.array(addressSchema).optional(),
  /** Seconds between two reads of the signers' balances on this chain. */
  fetch_interval_seconds: z.number().positive().max(86_400).optional(),
  request_timeout_seconds: z.number().positive().max(60).default(10),
  poll_interval_seconds: z.number().min(0.1).max(3600).default(4),
  /** Seconds after which the next transaction of a nonce lane is signed again with higher fees. */
  replace_after_seconds: z.number().min(1).max(86_400).default(180),
});

/**
 * Returns the schema of an `evm` entry of the venues file: one entry for each chain, with the
 * fields of its bridges. The RPC URL may hold an access key and is a secret. Checks the finality
 * settings against the table of known chains.
 */
export function evmVenueSchemaWith(parts: readonly ChainPart[]) {
  const fields = Object.fromEntries(
    parts.map(({ field, schema }) => [field, schema.optional()] as const),
  );
  return entrySchema.extend(fields).transform((read, context) => {
    // The bridges' fields widen the types of all others, so the entry's type is restored.
    const entry = read as typeof read & Entry;
    const reading = readFinality(entry);
    if (!reading.ok) {
      for (const { field, message } of reading.faults)
        context.addIssue({ code: 'custom', path: [field], message });
      return z.NEVER;
    }
    const { finality_confirmations: _count, finality_override: _reason, ...venue } = entry;
    const isPart = ([field]: readonly [string, unknown]): boolean => Object.hasOwn(fields, field);
    const own = Object.fromEntries(Object.entries(venue).filter((each) => !isPart(each)));
    const kept = { parts: Object.fromEntries(Object.entries(venue).filter(isPart)) };
    return {
      ...(own as Omit<Entry, Decided>),
      finality: reading.finality,
      ...kept,
      contracts: parts.flatMap((part) => part.contracts(kept)),
      deposit_venues: [],
    } satisfies EvmVenue;
  });
}

type Entry = z.output<typeof entrySchema>;

type Decided = 'finality' | 'finality_confirmations' | 'finality_override';

export type EvmVenue = Omit<Entry, Decided> & {
  readonly finality: ChainFinality;
  readonly parts: PartedChain['parts'];
  /** Contracts, other than tokens, where received tokens are lost. */
  readonly contracts: readonly OwnContract[];
  /** The venues that take deposits from this chain, as their own entries say. */
  readonly deposit_venues: readonly DepositVenue[];
};

export function isEvmVenue(entry: VenueEntry): entry is EvmVenue {
  return entry.provider === 'evm';
}

export const chainIdSchema = z.number().int().positive();

/** Returns the limits of what one transaction may cost on the chain. */
export function chainCaps(
  venue: Pick<EvmVenue, 'max_gas_cost_wei' | 'max_fee_per_gas_gwei'>,
): Caps {
  const { max_gas_cost_wei, max_fee_per_gas_gwei } = venue;
  return { max_gas_cost_wei, max_fee_per_gas_gwei: max_fee_per_gas_gwei ?? null };
}

/** Not strict: node configs also carry keys for other readers (amount, venue, labels). */
export const nativeTransferConfigSchema = z.object({
  chain_id: chainIdSchema,
  token_address: z.undefined('a native transfer has no token_address').optional(),
  destination_address: addressSchema,
});

export const erc20TransferConfigSchema = z
  .object({
    chain_id: chainIdSchema,
    token_address: addressSchema,
    destination_address: addressSchema,
  })
  .refine((config) => config.token_address !== config.destination_address, {
    path: ['destination_address'],
    message: 'is the token contract itself: tokens sent there are lost',
  });

export const approveConfigSchema = z.object({
  chain_id: chainIdSchema,
  token_address: addressSchema,
  spender: addressSchema,
});

/** Sources of the baseline of an increase; see balance-observe.ts. */
export const BASELINES = ['first_observation', 'movement_start'] as const;

const decimal = z.string().refine(isDecimal, 'must be a decimal string');

export const balanceObserveConfigSchema = z.object({
  chain_id: chainIdSchema,
  token_address: addressSchema.optional(),
  address: addressSchema,
  min_increase: decimal.refine(
    (text) => isDecimal(text) && isPositive(text),
    'must be greater than zero',
  ),
  baseline: z.enum(BASELINES).default('first_observation'),
  baseline_amount: decimal.optional(),
});
export type BalanceObserveConfig = z.output<typeof balanceObserveConfigSchema>;
