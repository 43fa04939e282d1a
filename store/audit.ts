/** Writes audit rows of requests that were refused before a transition. */
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRow, auditRows } from './event-ids.ts';
import { run, violatedConstraint } from './faults.ts';

/** Writes audit rows in their own transaction. */
export async function writeAudit(db: Database, entries: readonly AuditEntry[]): Promise<void> {
  const doc = JSON.stringify(auditRows(db, entries));
  await run(() => db.sql`SELECT write_audit(${doc}::jsonb, svc_now())`);
}

/**
 * Writes one audit row under an id that identifies the event. A second write of the same event
 * changes nothing.
 */
export async function writeAuditOnce(
  db: Database,
  eventId: string,
  entry: AuditEntry,
): Promise<void> {
  const doc = JSON.stringify([auditRow(db, entry, eventId)]);
  try {
    await run(() => db.sql`SELECT write_audit(${doc}::jsonb, svc_now())`);
  } catch (error) {
    if (violatedConstraint(error) !== 'audit_events_pkey') throw error;
  }
}
