/** Makes a node wait before its fence while clocks disagree. */
import type { PhaseResult } from '../../domain/messages.ts';
import { CLOCK_DIFFERENCE, clockProblem, clocksOfNode } from '../../domain/send/clocks.ts';
import { freezeNode, type PhaseRow } from '../../store/phases.ts';
import type { PhaseDependencies } from './context.ts';
import { waitBeforeFence } from './wait-before-fence.ts';

/** Returns which clock is too far off for this node to be sent now; null when none is. */
export function clockStops(
  { clocks, chains }: Pick<PhaseDependencies, 'clocks' | 'chains'>,
  { node, sign_request }: PhaseRow,
): string | null {
  if (clocks === undefined) return null;
  return clockProblem(clocks.differences, clocksOfNode(node, sign_request, chains));
}

/** Makes the node wait. This uses no attempt and no part of its `execution_seconds`. */
export async function waitForClock(
  deps: PhaseDependencies,
  row: PhaseRow,
  why: string,
): Promise<PhaseResult> {
  await freezeNode(deps.db, row);
  return waitBeforeFence(deps, row, { code: CLOCK_DIFFERENCE, why });
}
