/** The step that follows a restore or failover of the database that may have lost commits. */
import type { CutoverMode } from '../domain/cutover.ts';
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import type { CutoverChange } from './cutover.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';

export interface AfterRestore {
  /** Names the restore. The step runs once for each incident. */
  readonly incident: string;
  /** Seconds after which a send from before the restore has ended. */
  readonly send_seconds: number;
  /** The most seconds that a signature made for a team's executor can be used. */
  readonly signature_seconds: number;
  /** What is written where the restored switch takes new money. */
  readonly drain: CutoverChange<'drain'>;
  readonly audit: readonly AuditEntry[];
}

export interface RestoreResult {
  readonly incident: string;
  readonly at: string;
  /** From this time on, a provider's answer "no such send" proves that nothing was sent. */
  readonly nothing_found_counts_from: string;
  readonly movements_woken: number;
  /** Number of open nodes whose earlier send recovery looks up before a new send. */
  readonly nodes_asked_first: number;
  /**
   * Number of ended nodes that may run again: recovery looks for an earlier send before their next
   * attempt.
   */
  readonly retries_asked_first: number;
  readonly capital_transfers: number;
  readonly nonce_lanes: number;
  /** Never `normal`: a person sets that once keys, payees and people have been compared. */
  readonly cutover_mode: Exclude<CutoverMode, 'normal'>;
  /** Number of open change requests that ended; they are made again. */
  readonly change_requests_ended: number;
  /** Whether the step had already run for this incident; then this call changed nothing. */
  readonly repeated: boolean;
}

/**
 * Makes recovery look up every open node and transfer before it may be sent, ends open change
 * requests, and takes no new money; all or nothing.
 */
export async function afterRestore(
  db: Database,
  { audit, drain, ...step }: AfterRestore,
): Promise<RestoreResult> {
  const doc = JSON.stringify({
    ...step,
    drain: { ...drain, audit: auditRows(db, drain.audit) },
    audit: auditRows(db, audit),
  });
  const rows = await run(
    () => db.sql<{ answer: RestoreResult }>`SELECT after_restore(${doc}::jsonb) AS answer`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the SQL function after_restore returned no row');
  return row.answer;
}

/** Returns the incident for which the step ran last; null if it never ran. */
export async function readNewestRestore(db: Database): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ incident: string }>`
      SELECT incident FROM restores ORDER BY at DESC, incident LIMIT 1`,
  );
  return rows[0]?.incident ?? null;
}
