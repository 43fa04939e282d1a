/** What a transaction asks a chain to do. */
import type { Address, Hex } from 'viem';

export interface EvmCall {
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly data: Hex;
}
