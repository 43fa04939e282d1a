/** Whether what is to be signed is exactly one call, byte for byte. */
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import { sameEvmAddress } from '../../platform/evm-address.ts';
import type { Verdict } from './act.ts';
import type { EvmCall } from './call.ts';

/** `what` names the act in the sentence that says what differs. */
export function verifyCall(
  unsigned: EvmUnsignedTransaction,
  chainId: number,
  call: EvmCall,
  what: string,
): Verdict {
  const problem = problemOf(unsigned, chainId, call, what);
  return problem === null ? { ok: true } : { ok: false, problem };
}

function problemOf(
  unsigned: EvmUnsignedTransaction,
  chainId: number,
  call: EvmCall,
  what: string,
): string | null {
  if (unsigned.chain_id !== chainId)
    return `the transaction is for chain ${unsigned.chain_id}, the ${what} for ${chainId}`;
  if (!sameEvmAddress(unsigned.to, call.to))
    return `the transaction calls ${unsigned.to}, the ${what} ${call.to}`;
  if (BigInt(unsigned.value) !== call.value)
    return `the transaction sends ${unsigned.value} wei, the ${what} ${call.value}`;
  return unsigned.data.toLowerCase() === call.data.toLowerCase()
    ? null
    : `the calldata is not that of the planned ${what}`;
}
