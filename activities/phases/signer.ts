/** Finds the signer of a node and its address. */
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import { SignerFault, type Signer } from '../../domain/signer.ts';
import { readTransactions } from '../../store/evm-transactions.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { signerOnRecord } from '../requirements/list.ts';
import type { Purpose, RequirementSources } from '../requirements/requirement.ts';

/**
 * Returns the node's signer with its address; null when no signer is bound.
 *
 * @throws ExecutorFault `unreachable` when the bound signer does not return its address, with the
 *   code of its {@link SignerFault} or `SIGNER_MISSING`.
 */
export async function signerOf(
  deps: RequirementSources,
  row: PhaseRow,
  purpose: Purpose,
): Promise<NonNullable<ExecutionContext['signer']> | null> {
  const binding = row.node.signer_binding;
  if (binding === null) return null;
  const signer = deps.signers.get(binding.signer_key);
  if (signer === undefined)
    throw new ExecutorFault(
      'unreachable',
      'SIGNER_MISSING',
      `signer ${binding.signer_key} is not registered in this worker`,
    );
  const { chain_family } = signer.descriptor;
  return {
    signer_key: binding.signer_key,
    chain_family,
    address: await addressFor(deps, row, signer, purpose),
  };
}

async function addressFor(
  deps: RequirementSources,
  row: PhaseRow,
  signer: Signer,
  purpose: Purpose,
): Promise<string> {
  try {
    return await addressOf(signer, purpose);
  } catch (error) {
    const signed = purpose === 'look' ? await signedBy(deps, row) : null;
    if (signed !== null) return signed;
    throw error;
  }
}

/**
 * Returns the signer's address; empty when the signer has none.
 *
 * @throws ExecutorFault as {@link signerOf}.
 */
export async function addressOf(signer: Signer, purpose: Purpose): Promise<string> {
  try {
    return (await (purpose === 'send' ? signer.identity() : signer.recentIdentity())) ?? '';
  } catch (error) {
    const { signer_key } = signer.descriptor;
    // The message of any other error may hold a secret, so it is not repeated.
    const [code, why] =
      error instanceof SignerFault
        ? [error.code, error.message]
        : ['SIGNER_UNREACHABLE', 'it did not return its address'];
    throw new ExecutorFault('unreachable', code, `signer ${signer_key}: ${why}`, { cause: error });
  }
}

/** Returns the address that signed for the attempt; null when no signature is stored. */
async function signedBy(deps: RequirementSources, row: PhaseRow): Promise<string | null> {
  const [transaction] = await readTransactions(deps.db, row);
  return transaction?.from ?? signerOnRecord(deps, row);
}
