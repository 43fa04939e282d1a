/** The activities of a movement, built from explicit dependencies. */
import { advance } from '../domain/actions/advance.ts';
import { expire } from '../domain/actions/approval.ts';
import type { LoadedMovement, MovementActivities, Phase, RecoverArgs } from '../domain/messages.ts';
import { loadMovement, readEnd } from '../store/phases.ts';
import { applyTransition } from '../store/transition.ts';
import { beating, named } from './guarded.ts';
import { cancel } from './phases/cancel.ts';
import { preflightAndPrepare, soon, submitAndLook } from './phases/chain.ts';
import type { PhaseDependencies } from './phases/context.ts';
import { runPhase } from './phases/phase.ts';
import { ask, record, STEPS } from './phases/team.ts';

/** Each is safe to run again: it first returns what the database already records. */
export function createMovementActivities(deps: PhaseDependencies): MovementActivities {
  const phase = (name: Phase) => (args: RecoverArgs) =>
    beating(deps, () => runPhase(deps, STEPS[name], args));
  return {
    load: ({ movement_id, run_id }) => load(deps, movement_id, run_id),
    async decide(args) {
      const end = args.ended
        ? await readEnd(deps.db, args.movement_id)
        : { reservation: 'none' as const, spent: false };
      const outcome = await applyTransition(deps.db, advance(args, end.reservation, end.spent));
      const decided = { applied: outcome.ok, version: outcome.head?.version ?? args.version };
      const { begin } = args;
      if (!outcome.ok || begin === undefined) return decided;
      const begun = await soon(deps, () => preflightAndPrepare(deps, begin));
      return begun === null ? decided : { ...decided, begun };
    },
    async expire({ movement_id }) {
      // Refused when an approval came first or the database's clock is behind: the run loads and
      // sees.
      await applyTransition(deps.db, expire(movement_id));
    },
    preflight: (args) =>
      args.chained === true
        ? beating(deps, () => preflightAndPrepare(deps, args))
        : phase('preflight')(args),
    prepare: phase('prepare'),
    submit: (args) =>
      args.chained === true
        ? beating(deps, () => submitAndLook(deps, args))
        : phase('submit')(args),
    observe: phase('observe'),
    recover: phase('recover'),
    cancel: (args) => beating(deps, () => cancel(deps, args)),
    ask: (args) => beating(deps, () => ask(deps, args)),
    record: (args) => named(deps, () => record(deps, args)),
  };
}

/**
 * The movement, and of each node how its executor is reached: that is known here and not in the
 * database.
 */
async function load(
  deps: PhaseDependencies,
  movementId: string,
  runId: string,
): Promise<LoadedMovement | null> {
  const movement = await loadMovement(deps.db, movementId, runId);
  if (movement === null) return null;
  return {
    ...movement,
    conduct: 3,
    nodes: movement.nodes.map(({ signs, ...node }) => {
      const descriptor = deps.executors.describe(node.executor_key);
      if (descriptor?.task_queue !== undefined) {
        const { task_queue } = descriptor;
        return { ...node, task_queue, ...(signs === true ? { signs } : {}) };
      }
      return descriptor?.in_process === true ? { ...node, in_process: true } : node;
    }),
  };
}
