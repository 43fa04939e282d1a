/** Prepares audit and timeline rows for a write. */
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';

/**
 * Gives each row an id before the write; a repeated write then has the same ids and adds no second
 * row.
 */
export function withEventIds<T extends object>(
  entries: readonly T[],
): readonly (T & { readonly event_id: string })[] {
  return entries.map((entry) => ({ ...entry, event_id: newId() }));
}

export type AuditRow = AuditEntry & { readonly event_id: string; readonly mac: string | null };

/** What writes audit rows. */
export type AuditWriter = Pick<Database, 'auditMac'> & Partial<Pick<Database, 'auditActor'>>;

/** Returns an audit row with its id and a MAC that proves that this process wrote it. */
export function auditRow(db: AuditWriter, entry: AuditEntry, eventId: string = newId()): AuditRow {
  const actor = entry.actor_client_id ?? db.auditActor ?? null;
  const row = {
    ...entry,
    ...(actor === null ? {} : { actor_client_id: actor }),
    event_id: eventId,
  };
  return { ...row, mac: db.auditMac(row) };
}

export function auditRows(db: AuditWriter, entries: readonly AuditEntry[]): readonly AuditRow[] {
  return entries.map((entry) => auditRow(db, entry));
}
