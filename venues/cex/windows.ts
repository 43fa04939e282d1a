/** Splits a search in a history that allows only short periods and keeps only recent records. */
import { ExecutorFault } from '../../domain/executor.ts';
import type { Period } from './dialect.ts';

/**
 * Returns the parts of `period`, the oldest first, without gaps, each shorter than `longest`
 * milliseconds. With `overlap`, each part but the first starts so many milliseconds earlier. The
 * history goes back `keeps` milliseconds from `now`.
 *
 * @throws ExecutorFault `HISTORY_TOO_OLD` when the period starts before the exchange's history:
 *   "not found" would prove nothing.
 */
export function windows(
  period: Period,
  limits: { readonly longest: number; readonly keeps: number; readonly overlap?: number },
  now = period.to,
): readonly Period[] {
  if (now - period.from > limits.keeps) {
    throw new ExecutorFault(
      'protocol',
      'HISTORY_TOO_OLD',
      'the exchange keeps no history from the start of this period',
    );
  }
  const { longest, overlap = 0 } = limits;
  const parts: Period[] = [];
  for (let from = period.from; from <= period.to; from += longest) {
    parts.push({
      from: from === period.from ? from : from - overlap,
      to: Math.min(from + longest - 1, period.to),
    });
  }
  return parts;
}
