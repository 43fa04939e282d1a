/** Claims the nonce of a signature before signing, so that no other signature uses it. */
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { authorizationOf, usableSeconds } from '../../domain/signing.ts';
import type { NodeChange } from '../../domain/transition.ts';
import { readUnsignedTransaction } from '../../signers/unsigned-transaction.ts';
import { claimAuthorization } from '../../store/authorizations.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { callOptions } from '../call.ts';
import type { PhaseDependencies } from './context.ts';

interface SignatureClaim {
  /** The claim in the nonce lane; undefined when no transaction is signed. */
  readonly nonce: NodeChange['nonce'] | undefined;
  /** Seconds for which anyone who holds the signature can use it; 0 for a transaction. */
  readonly usable: number;
}

/**
 * Claims the nonce that the node's sign request needs.
 *
 * @throws ExecutorFault `rejected` when the request may not be signed.
 */
export async function claimFor(
  deps: PhaseDependencies,
  row: PhaseRow,
  context: ExecutionContext,
): Promise<SignatureClaim> {
  const request = row.sign_request;
  if (request === null) return { nonce: undefined, usable: 0 };
  if (request.kind === 'evm_transaction')
    return { nonce: await nonceClaim(deps, request.payload, context), usable: 0 };
  const [id, usable] = [authorizationOf(request), usableSeconds(request, row.now_ms)];
  // If two nodes or attempts used the same authorization nonce, only one of them would be paid.
  if (id !== null && !(await claimAuthorization(deps.db, id, row))) {
    const message = 'another node or attempt already uses the nonce of this authorization';
    throw new ExecutorFault('rejected', 'SIGN_REQUEST_MISMATCH', message);
  }
  return { nonce: undefined, usable };
}

async function nonceClaim(
  deps: PhaseDependencies,
  payload: JsonObject,
  context: ExecutionContext,
): Promise<NodeChange['nonce']> {
  const reading = readUnsignedTransaction(payload);
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
