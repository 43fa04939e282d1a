/**
 * Clocks that are too far apart to send by. Nonces and time limits are made from ours; what another
 * world makes of them goes by its own.
 */
import { perpActionOf } from '../perps/ready.ts';

/** Beyond this nothing new is sent. */
export const MOST_APART_MS = 60_000;

/** On a node that waits before its fence for clocks that differ. */
export const CLOCK_DIFFERENCE = 'CLOCK_DIFFERENCE';

/** The clock whose difference stops sends to all venues. */
export const DATABASE_CLOCK = 'database';
export const PERP_CLOCK = 'perp';

/** Milliseconds that each clock is ahead of this host; a clock that cannot be read is not in it. */
export type Differences = ReadonlyMap<string, number>;

/** Why nothing new of this action type may be sent now; null: no clock stops it. */
export function clockProblem(differences: Differences, action_type: string): string | null {
  const clocks = [DATABASE_CLOCK, ...(perpActionOf(action_type) === null ? [] : [PERP_CLOCK])];
  const apart = clocks.find((clock) => Math.abs(differences.get(clock) ?? 0) > MOST_APART_MS);
  if (apart === undefined) return null;
  const seconds = Math.round((differences.get(apart) ?? 0) / 1_000);
  const which = seconds > 0 ? 'ahead of' : 'behind';
  return `the clock of ${apart} is ${String(Math.abs(seconds))} seconds ${which} this host: nothing new is sent until they agree; set the clock that is wrong`;
}
