/**
 * Settings of the paper venue: its port, the folder of its ledger, and the chain on which it pays
 * out.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { DECIMAL_PATTERN } from '../../../domain/money.ts';
import { address, privateKey } from '../kit/hex.ts';
import { port } from '../kit/settings.ts';

/**
 * The chain file: tokens by symbol, and the hot wallet, which pays withdrawals and is used only by
 * the venue.
 */
export const chainFileSchema = z.object({
  rpcUrl: z.url(),
  chainId: z.int().positive(),
  tokens: z.record(z.string(), z.object({ address, decimals: z.int().min(0).max(18) })),
  accounts: z.object({ venueHotWallet: z.object({ address, privateKey }) }),
  /**
   * Fee of one withdrawal by asset, in units of the asset, taken from the amount; absent: no fee.
   */
  withdrawalFees: z.record(z.string(), z.string().regex(DECIMAL_PATTERN)).default({}),
});
export type ChainSettings = z.infer<typeof chainFileSchema>;

export interface VenueSettings {
  readonly port: number;
  readonly dataDir: string;
  readonly chain: ChainSettings;
}

const environmentSchema = z.object({
  PAPER_PORT: port,
  PAPER_DATA_DIR: z.string().min(1),
  PAPER_CHAIN_FILE: z.string().min(1),
});

/**
 * Reads the settings from the environment and the chain file. Throws an error that lists every
 * fault of the first invalid source.
 */
export function readSettings(environment: NodeJS.ProcessEnv): VenueSettings {
  const read = environmentSchema.parse(environment);
  const chain = chainFileSchema.parse(JSON.parse(readFileSync(read.PAPER_CHAIN_FILE, 'utf8')));
  return { port: read.PAPER_PORT, dataDir: read.PAPER_DATA_DIR, chain };
}
