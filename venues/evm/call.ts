/** The call that a transaction makes. */
import type { Address, Hex } from 'viem';

export interface EvmCall {
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly data: Hex;
}
