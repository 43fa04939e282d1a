/** The node that a phase is of. */
import type { PhaseArgs } from '../../domain/messages.ts';
import { readPhase, readPhaseAndView, type PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';

/** Reads the node, or throws: a phase is only ever scheduled for a node that exists. */
export async function phaseRow(deps: PhaseDependencies, args: PhaseArgs): Promise<PhaseRow> {
  const row = await readWithCourse(deps, args);
  if (row === null) throw new Error(`movement ${args.movement_id} has no node ${args.node_key}`);
  return row;
}

async function readWithCourse(
  { db }: PhaseDependencies,
  args: PhaseArgs,
): Promise<PhaseRow | null> {
  const { movement_id, node_key, decides, then } = args;
  // The run's decision is only a hint to read the movement too: the decision is computed again.
  if (decides === true && then !== undefined) {
    const found = await readPhaseAndView(db, movement_id, node_key);
    return found === null ? null : { ...found.row, course: { view: found.view } };
  }
  const row = await readPhase(db, movement_id, node_key);
  return row === null ? null : { ...row, ...decisionHints(args) };
}

/** Arguments of a phase that are no columns of the row. */
export function decisionHints({ decides }: PhaseArgs): Pick<PhaseRow, 'course'> {
  return decides === true ? { course: { view: null } } : {};
}
