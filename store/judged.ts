/**
 * Why versions cannot be executed. A version never changes, so each is judged once by a process.
 */
import { judgeInSteps } from '../domain/executable.ts';
import { inSlices } from '../platform/slices.ts';
import type { Database } from '../prisma/client.ts';

/** As many as an installation lists at a time; a reason is a line of text. */
const MOST_KEPT = 5_000;
const kept = new WeakMap<Database, Map<string, Promise<readonly string[]>>>();

/**
 * The reasons; empty for a version that can be executed. Concurrent callers share one judgement.
 */
export function judged(
  db: Database,
  templateId: string,
  graph: Parameters<typeof judgeInSteps>[0],
): Promise<readonly string[]> {
  const known = kept.get(db) ?? new Map<string, Promise<readonly string[]>>();
  kept.set(db, known);
  const reasons = known.get(templateId) ?? inSlices(judgeInSteps(graph));
  void reasons.catch(() => known.delete(templateId));
  // Moved to the end: the first entry is the least recently used.
  known.delete(templateId);
  known.set(templateId, reasons);
  const [oldest] = known.keys();
  if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
  return reasons;
}
