/**
 * How long a burn-and-mint lane takes to sign for a fast burn, as data. A burn of `standard`
 * finality takes as long as its chain does (`finality-table.ts`).
 *
 * From Circle CCTP, "Fast Transfer attestation times":
 * https://developers.circle.com/cctp/concepts/finality-and-block-confirmations
 * A chain that stands only among the standard ones there has no row here.
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

/** On average, from the burn's block; null for a chain that publishes no such time. */
export function fastAttestationSeconds(chainId: number): number | null {
  return SECONDS[chainId] ?? null;
}
