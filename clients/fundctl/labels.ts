/** What the operators' list calls an address. */
import { isLabelOf } from '../../domain/allowlist/match.ts';
import type { PlannedPayee } from '../../domain/send/planned-sends.ts';
import type { Session } from '../command-line/session.ts';
import type { Styled } from '../command-line/table.ts';
import { ApiError, UnreachableError } from '../http/errors.ts';
import type { AllowedAddress } from '../../api/dashboard/schema.ts';
import { everyRow } from './dashboard.ts';

/** Rows in force, or why they cannot be seen from here. */
export type Labels = { readonly rows: readonly AllowedAddress[] } | { readonly hidden: string };

/** The list is shown on the machine of the service alone; elsewhere nothing is said of labels. */
export async function readLabels(session: Session): Promise<Labels> {
  try {
    return { rows: await everyRow(session) };
  } catch (error) {
    if (error instanceof ApiError || error instanceof UnreachableError)
      return { hidden: 'the allowlist is shown on the machine of the service alone' };
    throw error;
  }
}

/** Label and standing of an address. */
export function labelOf(labels: Labels, payee: PlannedPayee, now = Date.now()): Styled {
  if ('hidden' in labels) return { text: '?', tone: 'dim' };
  const rows = labels.rows.filter((each) => isLabelOf(each, payee));
  const isCooling = ({ usable_after: after }: AllowedAddress) =>
    after !== null && Date.parse(after) > now;
  // One that is in force is enough.
  const row = rows.find((each) => !isCooling(each)) ?? rows[0];
  if (row === undefined) return { text: 'NOT ON THE ALLOWLIST', tone: 'bad' };
  const name = row.label ?? '(no label)';
  return isCooling(row)
    ? { text: `${name} (cooling until ${row.usable_after})`, tone: 'waiting' }
    : { text: name };
}

/** The label alone, for whoever has the standing from the service; null where it is not known. */
export function labelFor(labels: Labels, payee: PlannedPayee): string | null {
  if ('hidden' in labels) return null;
  return labels.rows.find((row) => isLabelOf(row, payee))?.label ?? null;
}
