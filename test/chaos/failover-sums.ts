/** Sums of a fail-over. */

/** The longest time between two successes that follow each other, in the unit of `times`. */
export function longestGap(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(0, ...sorted.slice(1).map((at, index) => at - (sorted[index] ?? at)));
}
