/** Audit and timeline rows on their way into a write. */
import { newId } from '../platform/ids.ts';

/** Gives each row its id here, so that a repeat of the write is the same write. */
export function withEventIds<T extends object>(entries: readonly T[]): readonly (T & { readonly event_id: string })[] {
  return entries.map((entry) => ({ ...entry, event_id: newId() }));
}
