/** Counts that are stored beside the rows that they count; see prisma/functions/counts.sql. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/**
 * Adds at most `most` recorded changes of each kind to the stored counts; returns how many were
 * added. A reader gets the same count before and after. Returns 0 while another process does this.
 */
export async function foldCounts(db: Database, most: number): Promise<number> {
  const rows = await run(
    () => db.sql<{ folded: number }>`SELECT fold_counts(${most}::integer) AS folded`,
  );
  return rows[0]?.folded ?? 0;
}

/** A stored count that differs from the number of rows. */
export interface CountDifference {
  readonly what: string;
  readonly kept: unknown;
  readonly true: unknown;
}

/** Returns all differences, by reading every row; empty when all counts are right. */
export async function readCountDifferences(db: Database): Promise<readonly CountDifference[]> {
  const rows = await run(
    () => db.sql<{ found: readonly CountDifference[] }>`SELECT count_differences() AS found`,
  );
  return rows[0]?.found ?? [];
}

/**
 * Computes all counts again from the rows. Only the owner of the tables may call this; writers wait
 * until it has ended.
 */
export async function rebuildCounts(db: Database): Promise<void> {
  await run(() => db.sql`SELECT rebuild_counts()`);
}
