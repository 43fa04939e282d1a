/** Reads the row of the node that a phase works on. */
import type { PhaseArgs } from '../../domain/messages.ts';
import { readPhase, readPhaseAndView, type PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';

/** Reads the node. Throws when there is none: a phase always has an existing node. */
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
  // The run only hints that a decision follows: the movement is read too, and the decision is
  // computed again.
  if (decides === true && then !== undefined) {
    const found = await readPhaseAndView(db, movement_id, node_key);
    return found === null ? null : { ...found.row, course: { view: found.view } };
  }
  const row = await readPhase(db, movement_id, node_key);
  return row === null ? null : { ...row, ...decisionHints(args) };
}

/** Returns the fields of the row that come from the phase's arguments, not from the database. */
export function decisionHints({ decides }: PhaseArgs): Pick<PhaseRow, 'course'> {
  return decides === true ? { course: { view: null } } : {};
}
