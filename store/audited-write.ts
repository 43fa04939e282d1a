/** Writes changes together with an audit row of their outcome. */
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRow } from './event-ids.ts';
import { writeOrFind } from './faults.ts';

/**
 * Writes a change whose repeat would find it already made; null when the change returns null. If
 * the connection breaks, looks for the change's audit row: it proves the commit and names the
 * changed row. The answer then has `outcome`, `row` and `at`, the time of the change.
 */
export function writeAudited<Answer>(
  db: Database,
  { audit, outcome }: { readonly audit: AuditEntry; readonly outcome: string },
  write: (row: ReturnType<typeof auditRow>) => Promise<readonly { readonly answer: Answer }[]>,
): Promise<Answer | null> {
  const row = auditRow(db, audit);
  return writeOrFind(
    db,
    async () => (await write(row))[0]?.answer ?? null,
    async () => {
      const found = await db.sql<{ answer: Answer }>`
        SELECT jsonb_build_object('outcome', ${outcome}::text, 'row', details -> 'row',
          'at', occurred_at) AS answer FROM audit_events WHERE event_id = ${row.event_id}::uuid`;
      return found[0]?.answer ?? null;
    },
  );
}
