/**
 * What every phase before the send shares: what it begins with, what ends it, and what a fault of
 * it means.
 */
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
import { question, type PhaseSteps, type Question } from './phase.ts';
import { result } from './results.ts';

/**
 * What preflight and prepare begin with: the node before its send, in time, with an amount that is
 * allowed.
 */
export async function beforeSend(
  deps: PhaseDependencies,
  args: PhaseArgs,
  { recorded }: Pick<PhaseSteps, 'recorded'>,
): Promise<Question | PhaseResult> {
  const row = await phaseRow(deps, args);
  // Marked after a restore since the phase before: whether it was sent is asked first, whatever
  // else there is to say.
  const beyond = recorded(row, args) ?? (row.recover_first ? result('READY', 'recover') : null);
  const known = beyond ?? (await failIfLate(deps, row));
  if (known !== null) return known;
  const amount = allowedAmount(row);
  if (!amount.ok) return stopBeforeSend(deps, row, amount.code, amount.message);
  return question(
    async () => ({ row, context: await contextOf(deps, row, amount.amount, 'prepare') }),
    (fault) => preSendFault(deps, row, fault),
  );
}

/** What an executor says that is to pull more than it may. */
const ALLOWANCE_INSUFFICIENT = 'ALLOWANCE_INSUFFICIENT';

/** Before the fence nothing was sent, so every fault that is an answer may end as FAILED. */
export async function preSendFault(
  deps: PhaseDependencies,
  row: PhaseRow,
  fault: ExecutorFault,
): Promise<PhaseResult> {
  const fail = (): Promise<PhaseResult> => stopBeforeSend(deps, row, fault.code, fault.message);
  if (fault.kind === 'rejected') return fail();
  // Shown on the node, and asked for as long as `execution_seconds` allow.
  if (fault.kind === 'not_yet') return unanswered(deps, row, fault);
  // Its allowance runs anew (a retry after a reset), or beside it: too little now is no fault yet.
  if (fault.code === ALLOWANCE_INSUFFICIENT && (await isAllowing(deps.db, row.movement_id)))
    return unanswered(deps, row, fault);
  // No answer says nothing about the payment, and outages outlast any number of tries: it waits, is
  // shown, and can be cancelled. A plan that had rather fail says so (docs/decisions/0044).
  if (isSilence(fault) && row.node.retry_policy?.max_attempts === undefined)
    return unanswered(deps, row, fault);
  return countFault(deps, row, fault, fail);
}

/** Whether nobody answered, as against an answer that is a fault. */
function isSilence({ kind }: ExecutorFault): boolean {
  return kind === 'timeout' || kind === 'unreachable';
}

/**
 * FAILED `NODE_TIMED_OUT` once `execution_seconds` have passed since the node began and it has not
 * been sent. What was accepted once has been.
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
