/** The nonce that the fence claims for what is to be signed. */
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { NodeChange } from '../../domain/transition.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { callOptions } from '../call.ts';
import { executorOf } from './bound-executor.ts';
import type { PhaseDependencies } from './context.ts';

/**
 * What the fence asks the lane for; undefined where no transaction is signed.
 *
 * @throws ExecutorFault `rejected` where it could not be signed or followed to its end.
 */
export async function nonceClaim(
  deps: PhaseDependencies,
  row: PhaseRow,
  context: ExecutionContext,
): Promise<NodeChange['nonce'] | undefined> {
  if (row.sign_request === null || row.sign_request.kind !== 'evm_transaction') return undefined;
  const reading = readUnsignedTransaction(row.sign_request.payload);
  if (!reading.ok) throw new ExecutorFault('rejected', 'SIGN_REQUEST_MISMATCH', reading.problem);
  const { unsigned } = reading;
  const address = context.signer?.address;
  const executor = executorOf(deps, row);
  if (address === undefined || address === '') {
    throw new ExecutorFault(
      'rejected',
      'SIGNER_MISSING',
      'a transaction is to be signed, but no signer with an address is bound',
    );
  }
  if (executor.chainNonce === undefined) {
    throw new ExecutorFault(
      'rejected',
      'SIGN_REQUEST_UNSUPPORTED',
      `${row.node.executor_binding.executor_key} cannot follow a nonce to its end, so no transaction is signed for it`,
    );
  }
  const chain_nonce = await executor.chainNonce(unsigned.chain_id, address, callOptions());
  return {
    chain_id: unsigned.chain_id,
    address: address.toLowerCase(),
    chain_nonce,
    signer_key: context.signer?.signer_key ?? '',
    unsigned,
  };
}
