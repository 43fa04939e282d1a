/** The cutover mode, which can stop new movements and sends (prisma/functions/cutover.sql). */
import type { CutoverMode } from '../domain/cutover.ts';
import type { JsonObject } from '../domain/json.ts';
import type { AuditEntry } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows } from './event-ids.ts';
import { run } from './faults.ts';
import { isoOfOrNull } from './json.ts';

/** The cutover mode and its last change; the other fields are null if it never changed. */
export interface Cutover {
  readonly mode: CutoverMode;
  readonly previous_mode: CutoverMode | null;
  readonly reason: string | null;
  /** ISO 8601. */
  readonly changed_at: string | null;
  readonly changed_by: JsonObject | null;
}

export async function readCutover(db: Database): Promise<Cutover> {
  const rows = await run(
    () => db.sql<{ answer: Cutover }>`SELECT to_jsonb(c) AS answer FROM cutover c`,
  );
  return only(rows);
}

export interface CutoverChange<Mode extends CutoverMode = CutoverMode> {
  readonly mode: Mode;
  readonly reason: string;
  readonly changed_by: JsonObject;
  readonly audit: readonly AuditEntry[];
}

/**
 * Changes the mode and writes the audit row. First waits until every transaction that has read the
 * old mode at its fence has ended.
 */
export async function setCutover(db: Database, change: CutoverChange): Promise<Cutover> {
  const doc = JSON.stringify({ ...change, audit: auditRows(db, change.audit) });
  return only(
    await run(() => db.sql<{ answer: Cutover }>`SELECT set_cutover_mode(${doc}::jsonb) AS answer`),
  );
}

function only(rows: readonly { readonly answer: Cutover }[]): Cutover {
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the cutover mode returned no row');
  const { mode, previous_mode, reason, changed_at, changed_by } = row.answer;
  return { mode, previous_mode, reason, changed_at: isoOfOrNull(changed_at), changed_by };
}
