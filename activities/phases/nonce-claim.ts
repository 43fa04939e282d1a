/** The nonce that the fence claims for what is to be signed. */
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { NodeChange } from '../../domain/transition.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { callOptions } from '../call.ts';
import type { PhaseDependencies } from './context.ts';

/**
 * What the fence asks the lane for; undefined where no transaction is signed.
 *
 * @throws ExecutorFault `rejected` where it could not be signed.
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
  if (address === undefined || address === '') {
    throw new ExecutorFault(
      'rejected',
      'SIGNER_MISSING',
      'a transaction is to be signed, but no signer with an address is bound',
    );
  }
  const chain_nonce = await deps.signing.nextNonce(unsigned.chain_id, address, callOptions());
  return {
    chain_id: unsigned.chain_id,
    address: address.toLowerCase(),
    chain_nonce,
    signer_key: context.signer?.signer_key ?? '',
    unsigned,
  };
}
