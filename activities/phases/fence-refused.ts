/** Decides what follows when a node may not pass its fence. */
import { LANE_BLOCKED, SEND_LANE_TAKEN } from '../../domain/attention-reasons.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { PhaseResult } from '../../domain/messages.ts';
import type { MovementState } from '../../domain/states/movement.ts';
import type { BindingProblem, TransitionOutcome } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { GUARDS } from '../requirements/list.ts';
import { AGAIN_SECONDS } from '../leaving.ts';
import { codeOf, sentenceOf } from './allowlist.ts';
import { preSendFault } from './before-send.ts';
import { waitForClock } from './clock-wait.ts';
import type { PhaseDependencies } from './context.ts';
import type { Unfenced } from './fence.ts';
import { alreadyBeyond, result } from './results.ts';
import { phaseRow } from './row.ts';
import { RESTORED_NODE_UNASKED } from './settle.ts';
import { waitBeforeFence } from './wait-before-fence.ts';

/** Makes the node wait, end, or try its fence again. */
export async function notFenced(
  deps: PhaseDependencies,
  row: PhaseRow,
  unfenced: Unfenced,
): Promise<PhaseResult> {
  if ('apart' in unfenced) return waitForClock(deps, row, unfenced.apart);
  if ('fault' in unfenced) return preSendFault(deps, row, unfenced.fault);
  const { refused } = unfenced;
  // This worker stops. Nothing was tried, so another worker may take the node at once.
  if (refused.reason === 'leaving')
    return { ...result('READY', 'again'), delay_ms: AGAIN_SECONDS * 1_000 };
  const lane = refused.problems.find(({ binding }) => binding === 'lane');
  if (lane !== undefined)
    return waitBeforeFence(deps, row, { code: LANE_BLOCKED, why: lane.reason });
  const taken = refused.problems.find(({ binding }) => binding === 'send_lane');
  if (taken !== undefined)
    return waitBeforeFence(deps, row, { code: SEND_LANE_TAKEN, why: taken.reason });
  const meant = refusedFence(row, refused);
  if (meant instanceof ExecutorFault) return preSendFault(deps, row, meant);
  // Another worker has passed the fence or started a recovery; the run continues from the row that
  // the other worker wrote.
  return meant ?? alreadyBeyond(await phaseRow(deps, row), row) ?? result('READY', 'submit');
}

/**
 * Returns the fault when the node may never be sent as it was prepared; null when another worker
 * has moved the node meanwhile.
 */
function refusedFence(
  row: PhaseRow,
  outcome: TransitionOutcome & { readonly ok: false },
): PhaseResult | ExecutorFault | null {
  if (outcome.reason === 'not_approved') return result('READY', 'stop');
  if (outcome.reason === 'approval_not_proven')
    return new ExecutorFault(
      'rejected',
      'APPROVAL_NOT_PROVEN',
      'the assertions that were counted for the approval do not verify now, or are too few',
    );
  if (outcome.reason === 'frozen') return result('READY', 'wait');
  if (outcome.reason === 'binding') {
    const [first] = outcome.problems;
    // A key rotation has bound the node to another signer; null makes the caller read the node
    // again.
    if (first?.binding === 'signer' && first.reason === 'deprecated') return null;
    const guard = GUARDS.find(({ kind }) => kind === first?.binding);
    if (first === undefined || guard === undefined) return refusalOf(first);
    const refusal = guard.refusal(first);
    return refusal === null ? null : new ExecutorFault('rejected', refusal.code, refusal.message);
  }
  return outcome.reason === 'movement_state' ? closedLane(row, outcome.head?.request_state) : null;
}

function refusalOf(problem: BindingProblem | undefined): ExecutorFault {
  const { binding = 'executor', key = '', reason = 'not available' } = problem ?? {};
  if (binding === 'flow') {
    const { limit = '0', used = '0', nodes = [] } = problem ?? {};
    if (reason === RESTORED_NODE_UNASKED) {
      const message = `${nodes.join(', ')} may have been sent after the backup that was restored, and with this node that would be more than ${limit} ${key}: look at the venue; resolve this node as failed to have its failure path look for them`;
      return new ExecutorFault('rejected', RESTORED_NODE_UNASKED, message);
    }
    return new ExecutorFault(
      'rejected',
      'APPROVED_OUTFLOW_EXCEEDED',
      `the plan may move ${limit} ${key} in all, and ${used} has moved or may have moved`,
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

function closedLane(row: PhaseRow, state: MovementState | undefined): PhaseResult | ExecutorFault {
  if (state === 'MANUAL_INTERVENTION' || state === 'APPROVED') return result('READY', 'wait');
  // The node was never sent, so it stops without a fault.
  if (row.submitted_ms === null) return result('READY', 'stop');
  return new ExecutorFault('rejected', 'MOVEMENT_ENDED', 'the movement of the node was cancelled');
}
