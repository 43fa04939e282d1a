/**
 * What a rollup charges for writing a transaction to the chain beneath it, beside the gas that the
 * transaction names.
 */
import { parseAbi, serializeTransaction, type Hex } from 'viem';
import { ExecutorFault, type EvmUnsignedTransaction } from '../../domain/executor.ts';
import type { EvmConnection } from './client.ts';
import { isContractRefusal } from './errors.ts';

/**
 * As the predeployed oracle of the OP family has it, which adds the signature's bytes by itself.
 */
const ORACLE = parseAbi(['function getL1Fee(bytes) view returns (uint256)']);
/** The nonce is not known yet: one that is long enough, so that the charge is not told too low. */
const LONG_NONCE = 0xffff_ffff;

/**
 * Wei, as the venue's `l1_fee_oracle` tells now; 0 on a chain without one. Throws the `rejected`
 * fault `L1_FEE_UNKNOWN` when there is no such contract: a charge that nobody can tell is not
 * nothing.
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
    // Whether its checksum is right is no matter here.
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
        throw new ExecutorFault(
          'rejected',
          'L1_FEE_UNKNOWN',
          `${address} is no oracle of the fee that chain ${unsigned.chain_id} pays beneath it`,
        );
      }),
  );
}
