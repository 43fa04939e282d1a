/** Shared by the phases before the send: how they start and end, and what a fault means. */
import type { ExecutorFault } from '../../domain/executor.ts';
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

/** Start of preflight and prepare: the node is not sent yet, in time, and its amount is allowed. */
export async function beforeSend(
  deps: PhaseDependencies,
  args: PhaseArgs,
  { recorded }: Pick<PhaseSteps, 'recorded'>,
): Promise<Question | PhaseResult> {
  const row = await phaseRow(deps, args);
  // A restore has marked the node since the last phase: first find out whether it was sent.
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

/** An executor's code when its allowance is too small. */
const ALLOWANCE_INSUFFICIENT = 'ALLOWANCE_INSUFFICIENT';

/** Before the fence nothing was sent, so a refusal may end the node as FAILED. */
export async function preSendFault(
  deps: PhaseDependencies,
  row: PhaseRow,
  fault: ExecutorFault,
): Promise<PhaseResult> {
  const fail = (): Promise<PhaseResult> => stopBeforeSend(deps, row, fault.code, fault.message);
  if (fault.kind === 'rejected') return fail();
  // Shown on the node, and repeated for as long as `execution_seconds` allow.
  if (fault.kind === 'not_yet') return unanswered(deps, row, fault);
  // The movement still has a running allowance node, so too little now is no fault yet.
  if (fault.code === ALLOWANCE_INSUFFICIENT && (await isAllowing(deps.db, row.movement_id)))
    return unanswered(deps, row, fault);
  // Silence proves nothing about the payment, and outages outlast any number of tries: the node
  // waits, is shown, and can be cancelled. A plan may choose to fail (docs/decisions/0044).
  if (isSilence(fault) && row.node.retry_policy?.max_attempts === undefined)
    return unanswered(deps, row, fault);
  return countFault(deps, row, fault, fail);
}

/** Whether there was no answer at all, in contrast to an answer that is a fault. */
function isSilence({ kind }: ExecutorFault): boolean {
  return kind === 'timeout' || kind === 'unreachable';
}

/**
 * FAILED `NODE_TIMED_OUT` once `execution_seconds` have passed since the node started, unless it
 * was sent. A node that was accepted once counts as sent.
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

/** The clock of `execution_seconds` starts with the first try, not with the first success. */
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
