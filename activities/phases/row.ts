/** The node that a phase is of. */
import type { PhaseArgs } from '../../domain/messages.ts';
import { readPhase, type PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';

/** Reads the node, or throws: a phase is only ever scheduled for a node that exists. */
export async function phaseRow(deps: PhaseDependencies, args: PhaseArgs): Promise<PhaseRow> {
  const row = await readPhase(deps.db, args.movement_id, args.node_key);
  if (row === null) throw new Error(`movement ${args.movement_id} has no node ${args.node_key}`);
  return { ...row, ...beside(args) };
}

/** What a phase was told that no row knows. */
export function beside({ decides, then }: PhaseArgs): Pick<PhaseRow, 'course'> {
  return decides === true ? { course: { then: then ?? null } } : {};
}
