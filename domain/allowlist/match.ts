/**
 * Whether a payee is on the allowlist. The fence applies the same rule to the rows (SQL function
 * `address_problem`).
 */
import { sameAddress, type ChainFamily } from './address.ts';

/** A row as matching needs it. Times are milliseconds since 1970. */
export interface ListedAddress {
  readonly chain_family: ChainFamily;
  readonly address: string;
  /** Null matches every chain of the family. */
  readonly chain_id: number | null;
  readonly active: boolean;
  /** Null: at once. */
  readonly usable_after: number | null;
}

/** An address in normal form, and where it is paid. */
export interface PayeeAddress {
  readonly chain_family: ChainFamily;
  readonly address: string;
  /** Null when no chain is named: only rows for every chain match then. */
  readonly chain_id: number | null;
  /** The row must name the chain: one for every chain is not enough. */
  readonly strict: boolean;
}

/** Codes of a node that may not pay, from the weakest to the one that says most. */
export const ALLOWLIST_CODES = [
  'ADDRESS_NOT_ALLOWLISTED',
  'ADDRESS_CHAIN_ID_REQUIRED',
  'ADDRESS_IN_COOLING_PERIOD',
] as const;
export type AllowlistCode = (typeof ALLOWLIST_CODES)[number];

/** Whether the row is about this address on this chain, in force or not. */
export function isAbout(row: ListedAddress, payee: PayeeAddress): boolean {
  if (row.chain_family !== payee.chain_family || row.address !== payee.address) return false;
  return row.chain_id === null || row.chain_id === payee.chain_id;
}

/**
 * Whether an active row is about an address, in any spelling. It only labels the address; the
 * service decides whether it may be paid.
 */
export function isLabelOf(
  row: Omit<ListedAddress, 'usable_after'>,
  shown: {
    readonly chain_family: string;
    readonly address: string;
    readonly chain_id: number | null;
  },
): boolean {
  return (
    row.active &&
    row.chain_family === shown.chain_family &&
    sameAddress(row.address, shown.address) &&
    (row.chain_id === null || row.chain_id === shown.chain_id)
  );
}

/** Null when a row allows the payment now, else why none does. */
export function problemOf(
  rows: readonly ListedAddress[],
  payee: PayeeAddress,
  now: number,
): AllowlistCode | null {
  const active = rows.filter((row) => row.active && isAbout(row, payee));
  const serving = active.filter((row) => row.chain_id !== null || !payee.strict);
  if (serving.some((row) => row.usable_after === null || row.usable_after <= now)) return null;
  if (serving.length > 0) return 'ADDRESS_IN_COOLING_PERIOD';
  return active.length > 0 ? 'ADDRESS_CHAIN_ID_REQUIRED' : 'ADDRESS_NOT_ALLOWLISTED';
}

/**
 * When it may be paid, by the row that lets it soonest; undefined where no active row does. Null:
 * at once.
 */
export function usableAfter(
  rows: readonly ListedAddress[],
  payee: PayeeAddress,
): number | null | undefined {
  const times = rows
    .filter((row) => row.active && isAbout(row, payee))
    .map((row) => row.usable_after);
  if (times.length === 0) return undefined;
  const later = times.filter((time) => time !== null);
  return later.length < times.length ? null : Math.min(...later);
}
