/**
 * A rollup's charge for writing a transaction to the chain beneath it, in addition to the gas.
 */
import { parseAbi, serializeTransaction, type Hex } from 'viem';
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import { rejected } from '../node-plan.ts';
import type { EvmConnection } from './client.ts';
import { isContractRefusal } from './errors.ts';

/** The predeployed oracle of the OP family, which itself adds the signature's bytes. */
const ORACLE = parseAbi(['function getL1Fee(bytes) view returns (uint256)']);
/** The nonce is not known yet; a long one keeps the charge from being too low. */
const LONG_NONCE = 0xffff_ffff;

/**
 * Wei, as the venue's `l1_fee_oracle` reports now; 0 on a chain without one. Throws `rejected`
 * `L1_FEE_UNKNOWN` when there is no such contract: an unknown charge must not count as zero.
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
    // Lower case, since the library would refuse a wrong checksum.
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
