/** Counts that are kept beside the rows they are of; see prisma/functions/counts.sql. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/**
 * Adds up to `most` lines of each kind to what is kept, and answers how many there were. What is
 * read is the same before and after. Another process that is at it already is left alone: 0.
 */
export async function foldCounts(db: Database, most: number): Promise<number> {
  const rows = await run(
    () => db.sql<{ folded: number }>`SELECT fold_counts(${most}::integer) AS folded`,
  );
  return rows[0]?.folded ?? 0;
}

/** A count that is not what the rows say. */
export interface CountDifference {
  readonly what: string;
  readonly kept: unknown;
  readonly true: unknown;
}

/** All of them, by looking at every row; empty while everything is in order. */
export async function readCountDifferences(db: Database): Promise<readonly CountDifference[]> {
  const rows = await run(
    () => db.sql<{ found: readonly CountDifference[] }>`SELECT count_differences() AS found`,
  );
  return rows[0]?.found ?? [];
}

/**
 * Makes all counts anew from the rows. Only the owner of the tables may; whoever writes waits
 * meanwhile.
 */
export async function rebuildCounts(db: Database): Promise<void> {
  await run(() => db.sql`SELECT rebuild_counts()`);
}
