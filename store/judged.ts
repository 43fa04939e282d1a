/**
 * Caches why a template version cannot be executed. A version never changes, so each process checks
 * a version once.
 */
import { judgeInSteps } from '../domain/executable.ts';
import { inSlices } from '../platform/slices.ts';
import type { Database } from '../prisma/client.ts';

/** Number of versions cached: as many as an installation lists at a time. */
const MOST_KEPT = 5_000;
const kept = new WeakMap<Database, Map<string, Promise<readonly string[]>>>();

/**
 * Returns the reasons why the version cannot be executed; empty when it can. Concurrent callers
 * share one check.
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
  // Moves the entry to the end, so that the first entry is the least recently used.
  known.delete(templateId);
  known.set(templateId, reasons);
  const [oldest] = known.keys();
  if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
  return reasons;
}
