/** Network names that exchanges use for an ERC-20 payout; all mean the venue's only chain. */
import type { ChainSettings } from './settings.ts';

const NETWORKS: readonly string[] = ['erc20', 'eth', 'ethereum', 'evm', 'local'];

/** Returns whether `name` means the venue's chain. */
export function isNetwork(name: string, chain: ChainSettings): boolean {
  return [...NETWORKS, `eip155:${chain.chainId}`, String(chain.chainId)].includes(
    name.toLowerCase(),
  );
}
