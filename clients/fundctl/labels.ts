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
  const rows = labels.rows.filter((each) => isAbout(each, payee));
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
export function labelFor(labels: Labels, payee: Payee): string | null {
  if ('hidden' in labels) return null;
  return labels.rows.find((row) => isAbout(row, payee))?.label ?? null;
}

function isAbout(row: AllowedAddress, { chain_family, address, chain_id }: Payee): boolean {
  return (
    row.active &&
    row.chain_family === chain_family &&
    sameCase(row.address) === sameCase(address) &&
    (row.chain_id === null || row.chain_id === chain_id)
  );
}

/** Whether both are the same address, however it is written. */
export function sameAddress(one: string, other: string): boolean {
  return sameCase(one) === sameCase(other);
}

/** Only of addresses in hex the case says nothing; another family's is another address. */
function sameCase(address: string): string {
  return /^0x/i.test(address) ? address.toLowerCase() : address;
}
