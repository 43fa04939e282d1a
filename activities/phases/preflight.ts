/** preflight: may this node run at all? READY stays READY, or the node fails before anything was sent. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { exceedsMax, maxAmount } from '../../domain/plan/amount.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { callOptions } from './call.ts';
import { alreadyBeyond, amountOf, contextOf, executorOf, phaseRow, result, type PhaseDependencies } from './context.ts';
import { countFault, failNode, mustWrite } from './outcome.ts';

export async function preflight(deps: PhaseDependencies, args: PhaseArgs): Promise<PhaseResult> {
  const row = await phaseRow(deps, args);
  const beyond = alreadyBeyond(row, args);
  if (beyond !== null) return beyond;
  if (row.recover_first) return result('READY', 'recover');
  if (row.preflight_passed) return result('READY', 'continue');
  const late = await failIfLate(deps, row);
  if (late !== null) return late;
  const amount = amountOf(row);
  if (amount === null) return failNode(deps, row, 'AMOUNT_UNRESOLVED', 'the amount refers to an output that holds none', ['FAILED']);
  const limit = maxAmount(row.plan.risk_controls, row.node.risk_patch);
  if (exceedsMax(amount, limit)) {
    return failNode(deps, row, 'MAX_AMOUNT_EXCEEDED', `${amount} is more than max_amount ${limit ?? ''}`, ['FAILED']);
  }
  try {
    const answer = await executorOf(deps, row).preflight(await contextOf(deps, row, amount), callOptions());
    if (answer !== null) {
      return failNode(deps, row, answer.error_code ?? 'PREFLIGHT_FAILED', answer.error_message ?? 'the executor refused', ['FAILED']);
    }
  } catch (error) {
    return preSendFault(deps, row, error);
  }
  await mustWrite(deps, row, {
    moves: [],
    set: { preflight_passed: true, amount, error_count: 0, ...(row.started_ms === null ? { started_at: NOW } : {}) },
    event: 'node_preflight_passed',
    message: 'Preflight passed',
  });
  return result('READY', 'continue');
}

/** Before the fence nothing was sent, so every fault may end as FAILED. */
export function preSendFault(deps: PhaseDependencies, row: PhaseRow, error: unknown): Promise<PhaseResult> {
  if (!(error instanceof ExecutorFault)) throw error;
  const fail = (): Promise<PhaseResult> => failNode(deps, row, error.code, error.message, ['FAILED']);
  return error.kind === 'rejected' ? fail() : countFault(deps, row, error, fail);
}

/** FAILED `NODE_TIMED_OUT` once `execution_seconds` have passed since the node began and it has not been sent. */
export async function failIfLate(deps: PhaseDependencies, row: PhaseRow): Promise<PhaseResult | null> {
  const limit = row.node.timeout_policy?.execution_seconds;
  if (limit === undefined) return null;
  if (row.started_ms === null) {
    await mustWriteStart(deps, row);
    return null;
  }
  if (row.now_ms - row.started_ms < limit * 1000) return null;
  return failNode(deps, row, 'NODE_TIMED_OUT', `not sent within ${limit} s`, ['FAILED']);
}

/** The clock of `execution_seconds` starts with the first try, not with the first success. */
async function mustWriteStart(deps: PhaseDependencies, row: PhaseRow): Promise<void> {
  await applyTransition(deps.db, {
    movement_id: row.movement_id,
    nodes: [{ node_key: row.node_key, from: row.state, moves: [], attempt: row.attempt, set: { started_at: NOW } }],
    timeline: [],
  });
}
