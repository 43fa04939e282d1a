/**
 * A node is completed with what has arrived for it alone. Burns of the same terms differ in the
 * nonce alone, which the attester gives: one that it tells of two burns would complete both with
 * one mint.
 */
import { claimsOf, needsClaim, type Claim, type Completed } from '../../domain/claims.ts';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import { readClaimHolder } from '../../store/claims.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { ownerOf, type PhaseDependencies } from './context.ts';
import type { Given } from './phase.ts';

/** What the node is completed with by this answer. */
export function claimsWith(row: PhaseRow, answer: ExecutionResult): readonly Claim[] {
  return claimsOf(completedBy(row, answer));
}

/**
 * As given, unless the node would be completed with what has completed another one, or with nothing
 * that can be claimed: then a fault, which is asked about again and shown to a person.
 */
export async function withOwnClaim(
  deps: Pick<PhaseDependencies, 'db'>,
  row: PhaseRow,
  given: Given,
): Promise<Given> {
  if ('fault' in given || given.answer?.next_state !== 'COMPLETED') return given;
  const completed = completedBy(row, given.answer);
  const claims = claimsOf(completed);
  if (claims.length === 0) return needsClaim(completed) ? { fault: NO_CLAIM } : given;
  const holder = await readClaimHolder(deps.db, claims, ownerOf(row));
  if (holder === null) return given;
  return { fault: row.node.action_type === 'cctp_burn' ? OTHERS_MESSAGE : claimed() };
}

function completedBy(row: PhaseRow, { output, external_ref }: ExecutionResult): Completed {
  return {
    action_type: row.node.action_type,
    output: output ?? row.output,
    external_ref: external_ref ?? row.external_ref,
    matched: row.matched?.output ?? null,
  };
}

const OTHERS_MESSAGE = new ExecutorFault(
  'protocol',
  'ATTESTATION_MISMATCH',
  "the attester gave a message whose nonce is another burn's, which has been completed with it",
);
const claimed = (): ExecutorFault =>
  new ExecutorFault(
    'protocol',
    'ALREADY_CLAIMED',
    'what the executor shows has completed another node',
  );
const NO_CLAIM = new ExecutorFault(
  'protocol',
  'CLAIM_MISSING',
  'the executor says that it is completed, and not with what',
);
