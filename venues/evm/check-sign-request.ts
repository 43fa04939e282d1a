/**
 * Whether what an executor asks to sign is what the approved plan says, read from the plan and not
 * from the executor.
 */
import type { CallOptions, SignRequest } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import type { EvmChains } from './client.ts';
import { layer1Fee } from './layer1-fee.ts';
import { verifyEvmTransfer } from './verify-sign-request.ts';

export interface PlannedNode {
  readonly action_type: string;
  readonly config: JsonObject;
  readonly amount: string;
}

/**
 * Null when the request is exactly the planned transfer and may cost no more than the venue allows,
 * else a sentence that says what differs. Throws ExecutorFault when the chain cannot be asked for
 * the token's decimals or its fees.
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
  const { max_gas_cost_wei } = connection.venue;
  const planned = {
    action_type: plan.action_type,
    chain_id,
    token_address: token,
    destination_address,
    amount: plan.amount,
    decimals,
    max_gas_cost_wei,
  };
  const own = verifyEvmTransfer(request, planned);
  // What cannot be signed anyway is not asked about.
  const reading = own.ok ? readUnsignedTransaction(request.payload) : null;
  const verdict = reading?.ok
    ? verifyEvmTransfer(request, {
        ...planned,
        layer1_fee_wei: await layer1Fee(connection, reading.unsigned),
      })
    : own;
  return verdict.ok ? null : verdict.problem;
}
