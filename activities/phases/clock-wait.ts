/** A node that waits before its fence because clocks differ. */
import type { PhaseResult } from '../../domain/messages.ts';
import { CLOCK_DIFFERENCE, clockProblem } from '../../domain/send/clocks.ts';
import { freezeNode, type PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';
import { waitForLane } from './lane-wait.ts';

/** Why this node may not be sent now; null: no clock stops it. */
export function clockStops(deps: PhaseDependencies, { node }: PhaseRow): string | null {
  return clockProblem(deps.clocks?.differences ?? new Map(), node.action_type);
}

/** It costs none of its attempts, and its `execution_seconds` stand still. */
export async function waitForClock(
  deps: PhaseDependencies,
  row: PhaseRow,
  why: string,
): Promise<PhaseResult> {
  await freezeNode(deps.db, row);
  return waitForLane(deps, row, why, CLOCK_DIFFERENCE);
}
