/** Whether what an executor asks to sign is what the approved plan says, read from the plan and not from the executor. */
import type { CallOptions, JsonObject, SignRequest } from '../../domain/executor.ts';
import type { EvmChains } from './client.ts';
import { verifyEvmTransfer } from './verify-sign-request.ts';

export interface PlannedNode {
  readonly action_type: string;
  readonly config: JsonObject;
  readonly amount: string;
}

/**
 * Null when the request is exactly the planned transfer, else a sentence that says what differs.
 * Throws ExecutorFault when the chain cannot be asked for the token's decimals.
 */
export async function checkSignRequest(
  chains: EvmChains,
  request: SignRequest,
  plan: PlannedNode,
  call: CallOptions,
): Promise<string | null> {
  const { chain_id, token_address, destination_address } = plan.config;
  if (typeof chain_id !== 'number' || typeof destination_address !== 'string') {
    return 'the plan names no chain_id and destination_address to compare the transaction with';
  }
  const token = typeof token_address === 'string' ? token_address : null;
  const connection = await chains.open(chain_id, call);
  const decimals = await connection.decimals(token === null ? null : (token as `0x${string}`));
  const verdict = verifyEvmTransfer(request, {
    action_type: plan.action_type,
    chain_id,
    token_address: token,
    destination_address,
    amount: plan.amount,
    decimals,
  });
  return verdict.ok ? null : verdict.problem;
}
