/** Names that exchanges use for a payout as ERC-20; all mean the one chain this venue has. */
import type { ChainSettings } from './settings.ts';

const NETWORKS: readonly string[] = ['erc20', 'eth', 'ethereum', 'evm', 'local'];

/** Whether `name` means the venue's chain. */
export function isNetwork(name: string, chain: ChainSettings): boolean {
  return [...NETWORKS, `eip155:${chain.chainId}`, String(chain.chainId)].includes(
    name.toLowerCase(),
  );
}
