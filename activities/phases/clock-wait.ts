/** A node that waits before its fence because clocks differ. */
import type { PhaseResult } from '../../domain/messages.ts';
import { CLOCK_DIFFERENCE, clockProblem, clocksOfNode } from '../../domain/send/clocks.ts';
import { freezeNode, type PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';
import { waitBeforeFence } from './wait-before-fence.ts';

/** Why this node may not be sent now; null: no clock stops it. */
export function clockStops(
  { clocks, chains }: PhaseDependencies,
  { node, sign_request }: PhaseRow,
): string | null {
  if (clocks === undefined) return null;
  return clockProblem(clocks.differences, clocksOfNode(node, sign_request, chains));
}

/** It costs none of its attempts, and its `execution_seconds` stand still. */
export async function waitForClock(
  deps: PhaseDependencies,
  row: PhaseRow,
  why: string,
): Promise<PhaseResult> {
  await freezeNode(deps.db, row);
  return waitBeforeFence(deps, row, { code: CLOCK_DIFFERENCE, why });
}
