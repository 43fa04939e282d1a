/** The call that a transaction makes. */
import type { Address, Hex } from 'viem';

export interface EvmCall {
  readonly to: Address;
  /** Amount of the chain's coin, in wei. */
  readonly value: bigint;
  readonly data: Hex;
}
