/**
 * Claims: a node completes only with an arrived payment that no other node has claimed. Burns with
 * equal terms differ only in the nonce that the attester reports, so without claims one mint could
 * complete two burns.
 */
import { specOf } from '../../domain/actions/built-in.ts';
import { claimsOf, type Claim } from '../../domain/claims.ts';
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { Refusal } from '../../domain/transition.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { CallOutcome } from './phase.ts';

/** Returns the claims of the node on the arrived payment with which this answer completes it. */
export function claimsWith(
  row: PhaseRow,
  { output, external_ref }: ExecutionResult,
): readonly Claim[] {
  return claimsOf({
    action_type: row.node.action_type,
    output: output ?? row.output,
    external_ref: external_ref ?? row.external_ref,
    matched: row.matched?.output ?? null,
  });
}

/** Thrown when the database refuses to complete the node with the reported arrival. */
export class ClaimRefused extends Error {
  override readonly name = 'ClaimRefused';
  readonly fault: ExecutorFault;
  constructor(fault: ExecutorFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/**
 * Returns the error if the completion was refused because of its claims; null for other reasons.
 */
export function claimRefused({ node }: PhaseRow, reason: Refusal): ClaimRefused | null {
  if (reason === 'claim_missing') return new ClaimRefused(NO_CLAIM);
  if (reason !== 'already_claimed') return null;
  const ofMessage = specOf(node.action_type).claim?.named.includes('message') ?? false;
  return new ClaimRefused(ofMessage ? OTHERS_MESSAGE : CLAIMED);
}

/**
 * Stores the outcome. If the completion is refused because of its claims, stores a fault instead:
 * the node is looked at again and shown to a person.
 */
export async function withOwnClaim(
  outcome: CallOutcome,
  conclude: (outcome: CallOutcome) => Promise<PhaseResult>,
): Promise<PhaseResult> {
  try {
    return await conclude(outcome);
  } catch (error) {
    if (!(error instanceof ClaimRefused)) throw error;
    return conclude({ fault: error.fault });
  }
}

const OTHERS_MESSAGE = new ExecutorFault(
  'protocol',
  'ATTESTATION_MISMATCH',
  'the attester reported a message whose nonce has completed another burn',
);
const CLAIMED = new ExecutorFault(
  'protocol',
  'ALREADY_CLAIMED',
  'the payment that the executor reported has already completed another node',
);
const NO_CLAIM = new ExecutorFault(
  'protocol',
  'CLAIM_MISSING',
  'the executor reported COMPLETED without the payment that completes the node',
);
