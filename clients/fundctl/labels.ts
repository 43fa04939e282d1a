/** Finds the label of an address in the operators' allowlist. */
import { isLabelOf } from '../../domain/allowlist/match.ts';
import type { PlannedPayee } from '../../domain/send/planned-sends.ts';
import type { Session } from '../command-line/session.ts';
import type { Styled } from '../command-line/table.ts';
import { ApiError, UnreachableError } from '../http/errors.ts';
import type { AllowedAddress } from '../../api/dashboard/schema.ts';
import { everyRow } from './dashboard.ts';

/** The active allowlist rows, or the reason why they cannot be read from this machine. */
export type Labels = { readonly rows: readonly AllowedAddress[] } | { readonly hidden: string };

/** Reads the allowlist. The service shows the list only on its own machine; else `hidden`. */
export async function readLabels(session: Session): Promise<Labels> {
  try {
    return { rows: await everyRow(session) };
  } catch (error) {
    if (error instanceof ApiError || error instanceof UnreachableError)
      return { hidden: 'the allowlist is shown on the machine of the service alone' };
    throw error;
  }
}

/** Returns the label of an address, and whether the address may be paid now. */
export function labelOf(labels: Labels, payee: PlannedPayee, now = Date.now()): Styled {
  if ('hidden' in labels) return { text: '?', tone: 'dim' };
  const rows = labels.rows.filter((each) => isLabelOf(each, payee));
  const isCooling = ({ usable_after: after }: AllowedAddress) =>
    after !== null && Date.parse(after) > now;
  // One matching row that is not cooling is enough: prefer that row.
  const row = rows.find((each) => !isCooling(each)) ?? rows[0];
  if (row === undefined) return { text: 'NOT ON THE ALLOWLIST', tone: 'bad' };
  const name = row.label ?? '(no label)';
  return isCooling(row)
    ? { text: `${name} (cooling until ${row.usable_after})`, tone: 'waiting' }
    : { text: name };
}

/** Returns only the label of an address; null when the label is not known. */
export function labelFor(labels: Labels, payee: PlannedPayee): string | null {
  if ('hidden' in labels) return null;
  return labels.rows.find((row) => isLabelOf(row, payee))?.label ?? null;
}
