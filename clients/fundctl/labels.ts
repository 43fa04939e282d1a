/** What the operators' list calls an address. */
import type { Session } from '../command-line/session.ts';
import type { Styled } from '../command-line/table.ts';
import { ApiError, UnreachableError } from '../http/errors.ts';
import { everyRow, type AllowedAddress } from './dashboard.ts';

/** Rows in force, or why they cannot be seen from here. */
export type Labels = { readonly rows: readonly AllowedAddress[] } | { readonly hidden: string };

export interface Payee {
  readonly chain_family: string;
  readonly address: string;
  readonly chain_id: number | null;
}

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
export function labelOf(labels: Labels, payee: Payee, now = Date.now()): Styled {
  if ('hidden' in labels) return { text: '?', tone: 'dim' };
  const row = labels.rows.find((each) => isAbout(each, payee));
  if (row === undefined) return { text: 'NOT ON THE ALLOWLIST', tone: 'bad' };
  const name = row.label ?? '(no label)';
  const cooling = row.usable_after !== null && Date.parse(row.usable_after) > now;
  return cooling
    ? { text: `${name} (cooling until ${row.usable_after})`, tone: 'waiting' }
    : { text: name };
}

function isAbout(row: AllowedAddress, { chain_family, address, chain_id }: Payee): boolean {
  return (
    row.active &&
    row.chain_family === chain_family &&
    row.address.toLowerCase() === address.toLowerCase() &&
    (row.chain_id === null || row.chain_id === chain_id)
  );
}
