/** Decides whether a new movement is approved without a person, and creates the movement. */
import {
  approveAutomatically,
  autoApproveEvent,
  bindingsOf,
} from '../../domain/commands/approval.ts';
import type { Requester } from '../../domain/commands/context.ts';
import { forLateReasons } from '../../domain/auto-approve/checks.ts';
import { skippedForAgent, type Evaluation } from '../../domain/auto-approve/result.ts';
import { rootNodes } from '../../domain/graph/shape.ts';
import { newSnapshot } from '../../domain/snapshot.ts';
import {
  createApproved,
  createMovement,
  type AutomaticApproval,
  type CreateOutcome,
  type NewMovement,
} from '../../store/movements.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { refreshBefore, takeAt } from '../balances/cover.ts';
import { missingBindings } from './missing-bindings.ts';
import type { Compiled } from './plan.ts';

export interface Question {
  readonly compiled: Compiled;
  readonly strategy_id: string | null;
  readonly requester: Requester;
}

/** Returns the current decision; null when no policy applies. */
export async function evaluate(
  { compiled, strategy_id, requester }: Question,
  deps: ApiDependencies,
): Promise<Evaluation | null> {
  if (requester.caller.role === 'agent') return skippedForAgent(new Date().toISOString());
  if (!deps.autoApprove || strategy_id === null) return null;
  const { plan } = compiled;
  const required = bindingsOf(newSnapshot('', plan), rootNodes(plan));
  const { client_id } = requester.caller;
  return deps.autoApprove(
    { client_id, strategy_id, plan, required, missing: missingBindings(required, deps) },
    deps,
  );
}

/** Creates the movement, approved if the decision says so and the transaction confirms this. */
export async function createDecided(
  movement: Omit<NewMovement, 'auto_approve_result'>,
  requester: Requester,
  deps: ApiDependencies,
): Promise<CreateOutcome> {
  const since = performance.now();
  let refreshed = false;
  for (;;) {
    const evaluation = await evaluate(
      { compiled: movement, strategy_id: movement.strategy_id, requester },
      deps,
    );
    if (evaluation === null)
      return createMovement(deps.db, { ...movement, auto_approve_result: null });
    const decided = { ...movement, auto_approve_result: evaluation.result };
    if (evaluation.guard === null) {
      return createMovement(deps.db, {
        ...decided,
        timeline: [...movement.timeline, autoApproveEvent(evaluation.result)],
      });
    }
    const outcome = await createApproved(
      deps.db,
      decided,
      approvalOf(movement, evaluation, requester, deps),
    );
    if (outcome.created !== null) return outcome;
    // The policy or the template changed after the decision, so evaluate again.
    if (
      outcome.uncovered === null ||
      (!refreshed && (await refreshBefore(outcome.uncovered, since, deps)))
    ) {
      refreshed ||= outcome.uncovered !== null;
      continue;
    }
    const result = evaluation.refused.insufficient_effective_withdrawable;
    return createMovement(deps.db, {
      ...movement,
      auto_approve_result: result,
      timeline: [...movement.timeline, autoApproveEvent(result)],
    });
  }
}

function approvalOf(
  { plan, compiled_plan_hash }: Compiled,
  { result, guard, refused }: Extract<Evaluation, { readonly refused: unknown }>,
  requester: Requester,
  deps: ApiDependencies,
): AutomaticApproval {
  return {
    transition: (movementId) => ({
      ...approveAutomatically(
        newSnapshot(movementId, plan),
        { compiled_plan_hash, result },
        requester,
      ),
      take: takeAt(deps),
    }),
    guard,
    refused: forLateReasons((reason) => ({
      result: refused[reason],
      timeline: [autoApproveEvent(refused[reason])],
    })),
  };
}
