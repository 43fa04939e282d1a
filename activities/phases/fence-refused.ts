/** What a fence means that the database refused. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import type { MovementState } from '../../domain/states/movement.ts';
import type { BindingProblem, TransitionOutcome } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { GUARDS } from '../requirements/list.ts';
import { codeOf, sentenceOf } from './allowlist.ts';
import { result } from './results.ts';
import { RESTORED_NODE_UNASKED } from './settle.ts';

/**
 * What the node does whose fence the database refused; null where somebody else moved it meanwhile.
 *
 * @throws ExecutorFault `rejected` where nothing may ever be sent as it was prepared.
 */
export function refusedFence(
  row: PhaseRow,
  outcome: TransitionOutcome & { readonly ok: false },
): PhaseResult | null {
  if (outcome.reason === 'not_approved') return result('READY', 'stop');
  if (outcome.reason === 'frozen') return result('READY', 'wait');
  if (outcome.reason === 'binding') {
    const [first] = outcome.problems;
    const guard = GUARDS.find(({ kind }) => kind === first?.binding);
    if (first !== undefined && guard !== undefined) {
      const refusal = guard.refusal(first);
      if (refusal === null) return null;
      throw new ExecutorFault('rejected', refusal.code, refusal.message);
    }
    // A rotation has replaced its signer, and bound it to another one.
    if (first?.binding === 'signer' && first.reason === 'deprecated') return null;
    throw refusalOf(first);
  }
  return outcome.reason === 'movement_state' ? closedLane(row, outcome.head?.request_state) : null;
}

function refusalOf(problem: BindingProblem | undefined): ExecutorFault {
  const { binding = 'executor', key = '', reason = 'not available' } = problem ?? {};
  if (binding === 'flow') {
    const { limit = '0', used = '0', nodes = [] } = problem ?? {};
    if (reason === RESTORED_NODE_UNASKED) {
      const message = `${nodes.join(', ')} may have been sent in what the restore of the database lost, and with this node that would be more than ${limit} ${key}: look at the venue; resolved as failed, its failure path asks about them`;
      return new ExecutorFault('rejected', RESTORED_NODE_UNASKED, message);
    }
    return new ExecutorFault(
      'rejected',
      'APPROVED_OUTFLOW_EXCEEDED',
      `of ${key} ${limit} may move in all, and ${used} has moved or may have`,
    );
  }
  if (binding === 'address')
    return new ExecutorFault('rejected', codeOf(reason), sentenceOf(codeOf(reason), key));
  const disabled = binding === 'signer' ? 'SIGNER_DISABLED' : 'EXECUTOR_DISABLED';
  return new ExecutorFault(
    'rejected',
    reason === 'identity_mismatch' ? 'SIGNER_IDENTITY_MISMATCH' : disabled,
    `${binding} ${key} is ${reason}`,
  );
}

function closedLane(row: PhaseRow, state: MovementState | undefined): PhaseResult {
  if (state === 'MANUAL_INTERVENTION' || state === 'APPROVED') return result('READY', 'wait');
  // Who is stopped here counts as never sent.
  if (row.submitted_ms === null) return result('READY', 'stop');
  throw new ExecutorFault('rejected', 'MOVEMENT_ENDED', 'its movement was cancelled');
}
