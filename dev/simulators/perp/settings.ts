/** Settings of the venue. */
import { z } from 'zod';
import { address, privateKey, type Hex } from '../kit/hex.ts';
import { nodeUrl, port } from '../kit/settings.ts';
import type { Network } from './signing.ts';

/**
 * The account of the venue's bridge on the local chain, which receives deposits and pays
 * withdrawals. Anvil's account 10, whose key is public; no other part uses it.
 */
export const PERP_BRIDGE: { readonly address: Hex; readonly privateKey: Hex } = {
  address: '0xBcd4042DE499D14e55001CcbB24a551F3b954096',
  privateKey: '0xf214f2b2cd398c806f84e317254e0f0b801d0643303237d97a22a48e01628897',
};

export interface PerpSettings {
  readonly port: number;
  /** Folder of the journal. */
  readonly dataDir: string;
  readonly rpcUrl: string;
  readonly chainId: number;
  /** USDC on that chain, with six decimals. */
  readonly token: Hex;
  readonly bridgeKey: Hex;
  readonly network: Network;
}

const environmentSchema = z.object({
  PERP_PORT: port,
  PERP_DIR: z.string().min(1),
  PERP_CHAIN_RPC_URL: nodeUrl,
  PERP_CHAIN_ID: z.coerce.number().int().positive(),
  PERP_TOKEN: address,
  PERP_BRIDGE_KEY: privateKey,
  PERP_NETWORK: z.enum(['Mainnet', 'Testnet']).default('Testnet'),
});

/** Reads the settings from the environment; throws an error that lists every fault. */
export function readPerpSettings(environment: NodeJS.ProcessEnv): PerpSettings {
  const read = environmentSchema.parse(environment);
  return {
    port: read.PERP_PORT,
    dataDir: read.PERP_DIR,
    rpcUrl: read.PERP_CHAIN_RPC_URL,
    chainId: read.PERP_CHAIN_ID,
    token: read.PERP_TOKEN,
    bridgeKey: read.PERP_BRIDGE_KEY,
    network: read.PERP_NETWORK,
  };
}
