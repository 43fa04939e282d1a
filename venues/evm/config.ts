/** What an EVM chain's binding and the configs of its nodes look like. */
import { z } from 'zod';
import { isDecimal, isPositive } from '../../domain/money.ts';
import { readEvmAddress } from '../../signers/evm-address.ts';

const gwei = z.string().regex(/^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/, 'must be gwei as a decimal string such as "80" or "0.5"');

const rpcUrl = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}, 'must be an http or https URL');

/** An `evm` entry of the venues file: one for each chain. The RPC URL may hold an access key and is a secret. */
export const evmVenueSchema = z.strictObject({
  venue_key: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 of letters, digits and . _ -'),
  provider: z.literal('evm'),
  chain_id: z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
  rpc_url: rpcUrl,
  /** Blocks, the transaction's own included, before a weaker assurance than "finalized" holds. */
  confirmations: z.number().int().min(1).max(10_000).default(1),
  /** For chains without a `finalized` block tag: a block this deep counts as finalized. */
  finality_confirmations: z.number().int().min(1).max(1_000_000).optional(),
  /** Transactions are not prepared while the chain asks for more. */
  max_fee_per_gas_gwei: gwei.optional(),
  native_asset: z.string().min(1).max(32).default('ETH'),
  request_timeout_seconds: z.number().positive().max(60).default(10),
  poll_interval_seconds: z.number().min(0.1).max(3600).default(4),
});
export type EvmVenue = z.output<typeof evmVenueSchema>;

/** A well-formed, non-zero address in its checksummed form; the message says which rule it breaks. */
const address = z.string().transform((text, context) => {
  const reading = readEvmAddress(text);
  if (reading.ok) return reading.address;
  context.addIssue({
    code: 'custom',
    message: `is not usable: ${reading.problem === 'checksum' ? 'its checksum is wrong' : reading.problem}`,
  });
  return z.NEVER;
});
const chainId = z.number().int().positive();

/** Node configs carry keys for others too (amount, venue, labels), so these schemas read only their own. */
export const nativeTransferConfigSchema = z.object({
  chain_id: chainId,
  token_address: z.undefined('a native transfer has no token_address').optional(),
  destination_address: address,
});

export const erc20TransferConfigSchema = z
  .object({ chain_id: chainId, token_address: address, destination_address: address })
  .refine((config) => config.token_address !== config.destination_address, {
    path: ['destination_address'],
    message: 'is the token contract itself: tokens sent there are lost',
  });

/** Where the amount that a balance must rise from comes from; see balance-observe.ts. */
export const BASELINES = ['first_observation', 'movement_start'] as const;

const decimal = z.string().refine(isDecimal, 'must be a decimal string');

export const balanceObserveConfigSchema = z.object({
  chain_id: chainId,
  token_address: address.optional(),
  address,
  min_increase: decimal.refine((text) => isDecimal(text) && isPositive(text), 'must be greater than zero'),
  baseline: z.enum(BASELINES).default('first_observation'),
  baseline_amount: decimal.optional(),
});
export type BalanceObserveConfig = z.output<typeof balanceObserveConfigSchema>;
