/**
 * Smallest, middle and largest of the rounds: with a handful of noisy rounds nothing finer means
 * anything.
 */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** The middle value; the mean of the two middle ones of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return sorted.length % 2 === 1 ? at(Math.floor(half)) : (at(half - 1) + at(half)) / 2;
}

/** The smallest value that at least this share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** @throws RangeError for no values at all. */
export function spread(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('a figure needs at least one round');
  return { min: Math.min(...values), median: median(values), max: Math.max(...values) };
}

/** `a[i] / b[i]`: only values of the same round are compared. */
export function ratios(a: readonly number[], b: readonly number[]): number[] {
  return a.map((value, index) => value / (b[index] ?? Number.NaN));
}
