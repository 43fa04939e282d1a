/** Gas price of transactions on a local chain: far above any base fee there. */
const GWEI = 1_000_000_000n;
export const FEES = {
  type: 'eip1559',
  maxFeePerGas: 100n * GWEI,
  maxPriorityFeePerGas: GWEI,
} as const;
