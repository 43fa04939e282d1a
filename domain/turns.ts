/**
 * Whose movement is worked on first while tasks wait for a worker. Temporal hands out the tasks of
 * a lower priority number first, and among equal ones those of each fairness key in proportion to
 * its weight.
 */

/** A number for each strategy. The name {@link OTHERS} stands for those that are not named. */
export type ByStrategy = ReadonlyMap<string, number>;

export const OTHERS = '*';

/** Bounds of a weight and of a priority, which are those of Temporal's server. */
export const WEIGHTS = { least: 0.001, most: 1_000 } as const;
export const PRIORITIES = { first: 1, last: 5 } as const;

/** What a run is started with. Its activities inherit it, and its next run by continue-as-new. */
export interface Turn {
  readonly priorityKey?: number;
  readonly fairnessKey: string;
  readonly fairnessWeight?: number;
}

/**
 * Returns with which turn a run of a movement of this strategy is started; null: with Temporal's
 * own (no key, weight 1, priority 3), because no strategy has a number or the movement has no
 * strategy.
 */
export function turnOf(
  strategy: string | null,
  shares: ByStrategy,
  priorities: ByStrategy,
): Turn | null {
  if (strategy === null || shares.size + priorities.size === 0) return null;
  const weight = shares.get(strategy) ?? shares.get(OTHERS);
  const priority = priorities.get(strategy) ?? priorities.get(OTHERS);
  return {
    fairnessKey: keyOf(strategy),
    ...(weight === undefined ? {} : { fairnessWeight: weight }),
    ...(priority === undefined ? {} : { priorityKey: priority }),
  };
}

/** Longest fairness key in bytes; the server refuses a start with a longer one. */
const LONGEST_KEY = 64;

function keyOf(strategy: string): string {
  const bytes = new TextEncoder().encode(strategy);
  return bytes.length <= LONGEST_KEY ? strategy : `#${fnv1a(bytes)}`;
}

/**
 * Returns the 64-bit FNV-1a hash in hex. Two strategies with the same hash share a turn, and
 * nothing else depends on it.
 */
function fnv1a(bytes: Uint8Array): string {
  const hash = bytes.reduce(
    (sum, byte) => BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100_0000_01b3n),
    0xcbf2_9ce4_8422_2325n,
  );
  return hash.toString(16).padStart(16, '0');
}
