/** Converts an EIP-1559 transaction to the form that viem serializes and signs. */
import type { Hex, TransactionSerializableEIP1559 } from 'viem';
import type { EvmUnsignedTransaction } from '../domain/executor.ts';
import { readUnsignedTransaction } from './unsigned-transaction.ts';

/**
 * Reads the fields strictly. Throws an Error that names the invalid field but not its value; also
 * for an invalid nonce.
 */
export function evmTransaction(
  payload: EvmUnsignedTransaction,
  nonce: number,
): TransactionSerializableEIP1559 & { readonly type: 'eip1559' } {
  const reading = readUnsignedTransaction(payload);
  if (!reading.ok) throw new Error(`the unsigned transaction is malformed: ${reading.problem}`);
  if (!Number.isSafeInteger(nonce) || nonce < 0)
    throw new Error('the nonce must be a whole number');
  const { unsigned } = reading;
  return {
    type: 'eip1559',
    chainId: unsigned.chain_id,
    nonce,
    to: unsigned.to as Hex,
    value: BigInt(unsigned.value),
    data: unsigned.data as Hex,
    gas: BigInt(unsigned.gas),
    maxFeePerGas: BigInt(unsigned.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(unsigned.max_priority_fee_per_gas),
  };
}
