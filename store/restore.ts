/** The step after a restore or failover of the database that may have lost commits. */
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';

export interface AfterRestore {
  /** Names the restore: one step each. */
  readonly incident: string;
  /** A send from before the restore has ended after so many seconds. */
  readonly send_seconds: number;
  /** How many seconds what was signed for a team's executor can be used at most. */
  readonly signature_seconds: number;
  readonly audit: readonly AuditEntry[];
}

export interface RestoreResult {
  readonly incident: string;
  readonly at: string;
  /** From this time on "no such send" is believed. */
  readonly nothing_found_counts_from: string;
  readonly movements_woken: number;
  /** Open nodes: recovery looks at them before they are sent. */
  readonly nodes_asked_first: number;
  /** Ended nodes that may run again: recovery looks at their next attempt first. */
  readonly retries_asked_first: number;
  readonly capital_transfers: number;
  readonly nonce_lanes: number;
  /** It was done before, and nothing was changed now. */
  readonly repeated: boolean;
}

/**
 * Makes recovery look at every open node and transfer before it may be sent, in one transaction.
 */
export async function afterRestore(
  db: Database,
  { audit, ...step }: AfterRestore,
): Promise<RestoreResult> {
  const doc = JSON.stringify({ ...step, audit: auditRows(db, audit) });
  const rows = await run(
    () => db.sql<{ answer: RestoreResult }>`SELECT after_restore(${doc}::jsonb) AS answer`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('after_restore answered nothing');
  return row.answer;
}

/** The incident for which the step was done last; null where it never was. */
export async function readNewestRestore(db: Database): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ incident: string }>`
      SELECT incident FROM restores ORDER BY at DESC, incident LIMIT 1`,
  );
  return rows[0]?.incident ?? null;
}
