/** Reads a signer's identity again, outside any database transaction. */
import { IdentityFault, type Signer } from '../../domain/signer.ts';
import { within } from '../../platform/time-limit.ts';
import { readIdentity } from '../../signers/identity.ts';

const ANSWER_LIMIT_MS = 5_000;

export type LiveIdentity =
  | { readonly address: string; readonly problem: null }
  | {
      readonly address: null;
      readonly problem: 'signer_runtime_identity_unavailable' | 'signer_runtime_identity_invalid';
      /** Whether the signer is registered in this process and responded, whatever the response. */
      readonly answered: boolean;
    };

const INVALID = {
  address: null,
  problem: 'signer_runtime_identity_invalid',
  answered: true,
} as const;

/**
 * Returns the signer's address or the problem. Never throws; a signer that is not registered here
 * or does not respond in time is unavailable.
 */
export async function liveIdentity(signer: Signer | undefined): Promise<LiveIdentity> {
  const unavailable = (answered: boolean): LiveIdentity => ({
    address: null,
    problem: 'signer_runtime_identity_unavailable',
    answered,
  });
  if (signer === undefined) return unavailable(false);
  try {
    const identity = await within(signer.identity(), ANSWER_LIMIT_MS);
    if (identity === null) return unavailable(true);
    const reading = readIdentity(identity);
    return reading.ok ? { address: reading.address, problem: null } : INVALID;
  } catch (error) {
    return error instanceof IdentityFault ? INVALID : unavailable(false);
  }
}
