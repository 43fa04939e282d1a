/** Checks that an unsigned transaction makes exactly one call, byte for byte. */
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import type { EvmCall } from './call.ts';

/**
 * Returns how the transaction differs from the call, or null; `noun` names the act in the message.
 */
export function callProblem(
  unsigned: EvmUnsignedTransaction,
  call: EvmCall,
  noun: string,
): string | null {
  if (!sameEvmAddress(unsigned.to, call.to))
    return `the transaction calls ${unsigned.to}, the ${noun} ${call.to}`;
  if (BigInt(unsigned.value) !== call.value)
    return `the transaction sends ${unsigned.value} wei, the ${noun} ${call.value}`;
  return unsigned.data.toLowerCase() === call.data.toLowerCase()
    ? null
    : `the calldata is not that of the planned ${noun}`;
}
