/** preflight: may this node run at all? READY stays READY, or the node fails before anything was sent. */
import type { ExecutorFault } from '../../domain/executor.ts';
import type { PhaseArgs, PhaseResult } from '../../domain/messages.ts';
import { NOW } from '../../domain/transition.ts';
import type { PhaseRow } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { allowedAmount, alreadyBeyond, amountOf, contextOf, phaseRow, result, type PhaseDependencies } from './context.ts';
import { notAllowed } from './allowlist.ts';
import { countFault, failNode, mustWrite, type NodeWrite } from './outcome.ts';
import { question, type PhaseSteps, type Question } from './phase.ts';

export const preflight: PhaseSteps = {
  name: 'preflight',
  async begin(deps, args) {
    const begun = await beforeSend(deps, args, (row) => {
      if (row.recover_first) return result('READY', 'recover');
      return row.preflight_passed ? result('READY', 'continue') : null;
    });
    if ('next' in begun) return begun;
    const refused = await notAllowed(deps, begun.row);
    return refused === null ? begun : failNode(deps, begun.row, refused.code, refused.message, ['FAILED']);
  },
  call: (_deps, executor, { context }, options) => executor.preflight(context, options),
  async finish(deps, _args, row, given) {
    if ('fault' in given) return preSendFault(deps, row, given.fault);
    const { answer } = given;
    if (answer !== null) {
      return failNode(deps, row, answer.error_code ?? 'PREFLIGHT_FAILED', answer.error_message ?? 'the executor refused', ['FAILED']);
    }
    await mustWrite(deps, row, passed(row));
    return result('READY', 'continue');
  },
};

/** What preflight and prepare begin with: the node before its send, in time, with an amount that is allowed. */
export async function beforeSend(
  deps: PhaseDependencies,
  args: PhaseArgs,
  done: (row: PhaseRow) => PhaseResult | null,
): Promise<Question | PhaseResult> {
  const row = await phaseRow(deps, args);
  const known = alreadyBeyond(row, args) ?? done(row) ?? (await failIfLate(deps, row));
  if (known !== null) return known;
  const amount = allowedAmount(row);
  if (!amount.ok) return failNode(deps, row, amount.code, amount.message, ['FAILED']);
  return question(
    async () => ({ row, context: await contextOf(deps, row, amount.amount) }),
    (fault) => preSendFault(deps, row, fault),
  );
}

/** What a passed preflight leaves behind: the amount as it was resolved then, and the start of the node's clock. */
export function passed(row: PhaseRow): NodeWrite {
  return {
    moves: [],
    set: { preflight_passed: true, amount: amountOf(row), error_count: 0, ...(row.started_ms === null ? { started_at: NOW } : {}) },
    event: 'node_preflight_passed',
    message: 'Preflight passed',
  };
}

/** Before the fence nothing was sent, so every fault may end as FAILED. */
export function preSendFault(deps: PhaseDependencies, row: PhaseRow, fault: ExecutorFault): Promise<PhaseResult> {
  const fail = (): Promise<PhaseResult> => failNode(deps, row, fault.code, fault.message, ['FAILED']);
  return fault.kind === 'rejected' ? fail() : countFault(deps, row, fault, fail);
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
