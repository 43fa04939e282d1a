/** Audit rows on their way into a write. */
import type { AuditEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';

export type IdentifiedEntry = AuditEntry & { readonly event_id: string };

/** Gives each row its id here, so that a repeat of the write is the same write. */
export function withEventIds(entries: readonly AuditEntry[]): readonly IdentifiedEntry[] {
  return entries.map((entry) => ({ ...entry, event_id: newId() }));
}
