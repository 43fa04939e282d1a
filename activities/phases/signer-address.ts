/** The address of a node's signer. */
import { ExecutorFault } from '../../domain/executor.ts';
import { SignerFault, type Signer } from '../../domain/signer.ts';

/**
 * What a context is for, which says how its signer's address is found. `send`: asked of the signer
 * afresh, since it decides whose nonce is claimed and who has to sign. `prepare`: as it was a
 * moment ago. `look`: the same, and where the signer does not tell it, as what was signed shows
 * it; a signer that is down must not hide what became of a send.
 */
export type Purpose = 'prepare' | 'send' | 'look';

/**
 * Empty where the signer has none.
 *
 * @throws ExecutorFault `unreachable` where it does not tell it, with the code of its
 *   {@link SignerFault}.
 */
export async function addressOf(signer: Signer, purpose: Purpose): Promise<string> {
  try {
    return (await (purpose === 'send' ? signer.identity() : signer.recentIdentity())) ?? '';
  } catch (error) {
    const { signer_key } = signer.descriptor;
    // What is no fault of a backend's own words might say anything.
    const [code, why] =
      error instanceof SignerFault
        ? [error.code, error.message]
        : ['SIGNER_UNREACHABLE', 'it does not tell its address'];
    throw new ExecutorFault('unreachable', code, `signer ${signer_key}: ${why}`, { cause: error });
  }
}
