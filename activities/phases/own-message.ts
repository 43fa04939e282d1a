/**
 * A burn is completed with a message of its own. Burns of the same terms differ in the nonce alone,
 * which the attester gives: one that it tells of two burns would complete both with one mint.
 */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { claimBurnMessage } from '../../store/burn-messages.ts';
import { readMessage } from '../../venues/burn-mint/message.ts';
import { ownerOf, type PhaseDependencies } from './context.ts';
import type { Given } from './phase.ts';

/**
 * As given, unless a burn would be completed with the message of another one: then the fault
 * `ATTESTATION_MISMATCH`, which is asked about again and shown to a person. The claim stands before
 * the completion, and is the node's: whoever looks again claims the same.
 */
export async function withOwnMessage(
  deps: Pick<PhaseDependencies, 'db'>,
  row: PhaseRow,
  given: Given,
): Promise<Given> {
  if ('fault' in given || row.node.action_type !== 'cctp_burn') return given;
  return given.answer !== null && (await isTaken(deps, row, given.answer))
    ? { fault: TAKEN }
    : given;
}

const TAKEN = new ExecutorFault(
  'protocol',
  'ATTESTATION_MISMATCH',
  "the attester gave a message whose nonce is another burn's, which has been completed with it",
);

async function isTaken(
  { db }: Pick<PhaseDependencies, 'db'>,
  row: PhaseRow,
  { next_state, output }: ExecutionResult,
): Promise<boolean> {
  const { attested_message: bytes } = output ?? {};
  if (next_state !== 'COMPLETED' || typeof bytes !== 'string') return false;
  const reading = readMessage(bytes);
  // What cannot be read nobody mints: the mint says so.
  return reading.ok && !(await claimBurnMessage(db, reading.message, ownerOf(row)));
}
