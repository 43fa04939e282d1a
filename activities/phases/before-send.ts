/** Start, end and faults of preflight and prepare, the phases before the send. */
import { ExecutorFault, type ExecutionResult } from '../../domain/executor.ts';
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { NOW } from '../../domain/transition.ts';
import { isAllowing } from '../../store/allowances.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { allowedAmount } from './amount.ts';
import { contextOf, type PhaseDependencies } from './context.ts';
import { phaseRow } from './row.ts';
import { countFault, unanswered } from './faults.ts';
import { stopBeforeSend } from './settle.ts';
import { questionOr, type PhaseSteps, type Question } from './phase.ts';
import { result } from './results.ts';

/**
 * Starts preflight or prepare. Reads the node, unless the caller passes its row as `left`. Returns
 * the input of the executor's call if the node is not sent yet, in time, and within its limits;
 * else the phase's result.
 */
export async function beforeSend(
  deps: PhaseDependencies,
  args: PhaseArgs,
  { recorded }: Pick<PhaseSteps, 'recorded'>,
  left?: PhaseRow,
): Promise<Question | PhaseResult> {
  const row = left ?? (await phaseRow(deps, args));
  // If the database was restored since the last phase, the node may have been sent: recovery finds
  // out first.
  const beyond = recorded(row, args) ?? (row.recover_first ? result('READY', 'recover') : null);
  const known = beyond ?? (await failIfLate(deps, row));
  if (known !== null) return known;
  const amount = allowedAmount(row);
  if (!amount.ok) return stopBeforeSend(deps, row, amount.code, amount.message);
  return questionOr(
    async () => ({ row, context: await contextOf(deps, row, amount.amount, 'prepare') }),
    (fault) => preSendFault(deps, row, fault),
  );
}

/** Code that an executor returns when its token allowance is too small. */
const ALLOWANCE_INSUFFICIENT = 'ALLOWANCE_INSUFFICIENT';

/** Handles a fault before the fence: nothing was sent, so a refusal may end the node as FAILED. */
export async function preSendFault(
  deps: PhaseDependencies,
  row: PhaseRow,
  fault: ExecutorFault,
): Promise<PhaseResult> {
  const fail = (): Promise<PhaseResult> => stopBeforeSend(deps, row, fault.code, fault.message);
  if (fault.kind === 'rejected') return fail();
  // Shows the fault on the node and repeats the phase until `execution_seconds` are over.
  if (fault.kind === 'not_yet') return unanswered(deps, row, fault);
  // An allowance node of this movement is still running, so a small allowance now is no fault yet.
  if (fault.code === ALLOWANCE_INSUFFICIENT && (await isAllowing(deps.db, row.movement_id)))
    return unanswered(deps, row, fault);
  // A missing answer says nothing about the payment, and an outage can outlast any number of tries.
  // So the node waits, shows why, and can be cancelled; a plan may choose that it fails instead
  // (docs/decisions/0044).
  if (isSilence(fault) && row.node.retry_policy?.max_attempts === undefined)
    return unanswered(deps, row, fault);
  return countFault(deps, row, fault, fail);
}

/** Handles an answer that its phase may not give, a fault: it would bypass the fence's checks. */
export function illegalAnswer(
  deps: PhaseDependencies,
  row: PhaseRow,
  phase: 'preflight' | 'prepare',
  { next_state }: ExecutionResult,
): Promise<PhaseResult> {
  const said = `${phase} must not answer next_state ${next_state}`;
  return preSendFault(deps, row, new ExecutorFault('protocol', 'EXECUTOR_PROTOCOL_ERROR', said));
}

/** Returns whether the executor gave no answer at all, not even an answer with a fault. */
function isSilence({ kind }: ExecutorFault): boolean {
  return kind === 'timeout' || kind === 'unreachable';
}

/**
 * Ends the node as FAILED `NODE_TIMED_OUT` once `execution_seconds` have passed since its start,
 * unless it was sent (a node that was accepted once counts as sent). Returns null while there is
 * time.
 */
export async function failIfLate(
  deps: PhaseDependencies,
  row: PhaseRow,
): Promise<PhaseResult | null> {
  const limit = row.node.timeout_policy?.execution_seconds;
  if (limit === undefined || row.submitted_ms !== null) return null;
  if (row.started_ms === null) {
    await mustWriteStart(deps, row);
    return null;
  }
  if (row.now_ms - row.started_ms < limit * 1000) return null;
  return stopBeforeSend(deps, row, 'NODE_TIMED_OUT', `not sent within ${limit} s`);
}

/** Records the node's start: `execution_seconds` count from the first try, successful or not. */
async function mustWriteStart(deps: PhaseDependencies, row: PhaseRow): Promise<void> {
  await applyTransition(deps.db, {
    movement_id: row.movement_id,
    nodes: [
      {
        node_key: row.node_key,
        from: row.state,
        moves: [],
        attempt: row.attempt,
        set: { started_at: NOW },
      },
    ],
    timeline: [],
  });
}
