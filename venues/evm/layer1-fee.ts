/** Reads what a rollup charges, in addition to the gas, for writing a transaction to layer 1. */
import { parseAbi, serializeTransaction, type Hex } from 'viem';
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import { rejected } from '../node-plan.ts';
import type { EvmConnection } from './client.ts';
import { isContractRefusal } from './errors.ts';

/**
 * The predeployed oracle of OP-family rollups; the oracle itself adds the bytes of the signature.
 */
const ORACLE = parseAbi(['function getL1Fee(bytes) view returns (uint256)']);
/** Stands for the nonce, which is not known yet; a long nonce never makes the estimate too low. */
const LONG_NONCE = 0xffff_ffff;

/**
 * Returns the charge in wei that the venue's `l1_fee_oracle` reports now; 0 on a chain without an
 * oracle. Throws `rejected` `L1_FEE_UNKNOWN` when the address has no such contract: an unknown
 * charge must not count as zero.
 */
export async function layer1Fee(
  connection: EvmConnection,
  unsigned: EvmUnsignedTransaction,
): Promise<bigint> {
  const { l1_fee_oracle: address } = connection.venue;
  if (address === undefined) return 0n;
  const bytes = serializeTransaction({
    type: 'eip1559',
    chainId: unsigned.chain_id,
    nonce: LONG_NONCE,
    // In lower case, since the library refuses a wrong checksum.
    to: unsigned.to.toLowerCase() as Hex,
    value: BigInt(unsigned.value),
    data: unsigned.data as Hex,
    gas: BigInt(unsigned.gas),
    maxFeePerGas: BigInt(unsigned.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(unsigned.max_priority_fee_per_gas),
  });
  return connection.ask((client) =>
    client
      .readContract({ address, abi: ORACLE, functionName: 'getL1Fee', args: [bytes] })
      .catch((error: unknown) => {
        if (!isContractRefusal(error)) throw error;
        throw rejected(
          'L1_FEE_UNKNOWN',
          `${address} is not a layer 1 fee oracle of chain ${unsigned.chain_id}`,
        );
      }),
  );
}
