/** Schema of the perps venue's entry, and constants of the venue. */
import { z } from 'zod';
import { venueKeySchema, venueQueueSchema } from '../entry.ts';
import { addressSchema } from '../evm/config.ts';

/** Most decimals of an amount; the venue refuses more. Source: facts 1.2, 4. */
export const PERP_DECIMALS = 6;

/**
 * Least deposit, in units of the asset; a smaller one is lost without a credit. Source:
 * DOC:for-developers/api/usdc (docs/perps-venue-facts.md 5.1).
 */
export const LEAST_DEPOSIT = '5';

/**
 * Fee that the venue takes out of a withdrawal. Source: DOC:exchange-endpoint
 * (docs/perps-venue-facts.md 5.2).
 */
export const WITHDRAWAL_FEE = '1';

export { PERP_ACCOUNT_TYPE } from '../../domain/actions/perp.ts';

export const NETWORKS = ['Mainnet', 'Testnet'] as const;
/** The network, as the venue's own actions name it. */
export type PerpNetwork = (typeof NETWORKS)[number];

/** A `perp` entry of the venues file; there is at most one. */
export const perpVenueSchema = z.strictObject({
  venue_key: venueKeySchema,
  provider: z.literal('perp'),
  account_role: z.literal('master'),
  /** Address of the master account, which is also its signer's address. */
  account: addressSchema,
  /** Base URL of the venue's API, without `/exchange` and `/info`. */
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  network: z.enum(NETWORKS),
  /** The chain of deposits and withdrawals; the venues file must bind it. */
  chain_id: z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
  /** The address that receives deposits, on that chain. */
  deposit_address: addressSchema,
  /** The asset that the venue holds, as the chain's entry names the token. */
  asset: z.string().min(1).max(32).default('USDC'),
  /** The asset, as the venue's transfers name it. Source: `spotMeta` of the network. */
  token: z
    .string()
    .regex(/^[A-Z0-9]{1,16}:0x[0-9a-f]{32}$/, 'must be as USDC:0x and 32 hex digits in lower case'),
  fetch_interval_seconds: z.number().positive().max(86_400).optional(),
  queue: venueQueueSchema.optional(),
});
export type PerpVenue = z.output<typeof perpVenueSchema>;

/**
 * Modes in which the venue's perps state shows the account's perps funds. Source:
 * docs/perps-venue-facts.md 9.
 */
const SEPARATE_MODES: readonly string[] = ['default', 'disabled'];

/** Returns whether an account in this mode keeps its perps funds apart. */
export function keepsPerpsApart(mode: string): boolean {
  return SEPARATE_MODES.includes(mode);
}
