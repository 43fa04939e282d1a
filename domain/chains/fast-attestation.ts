/**
 * Average seconds until the attester of the burn-and-mint bridge signs a fast burn, by chain id. A
 * burn with `standard` finality takes as long as its chain (`finality-table.ts`).
 *
 * From Circle CCTP, "Fast Transfer attestation times":
 * https://developers.circle.com/cctp/concepts/finality-and-block-confirmations
 * A chain that this page lists only for standard transfers has no row here.
 */
const SECONDS: Readonly<Record<number, number>> = {
  1: 20, // Ethereum
  10: 8, // OP Mainnet
  130: 8, // Unichain
  480: 8, // World Chain
  8_453: 8, // Base
  42_161: 8, // Arbitrum One
  57_073: 8, // Ink
  59_144: 8, // Linea
};

/**
 * Returns the average seconds from the burn's block to its attestation; null if none are published
 * for the chain.
 */
export function fastAttestationSeconds(chainId: number): number | null {
  return SECONDS[chainId] ?? null;
}
