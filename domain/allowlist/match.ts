/**
 * Decides whether a payee is on the allowlist. The last check before a send applies the same rule
 * in the database (SQL function `address_problem`).
 */
import { sameAddress, type ChainFamily } from './address.ts';

/** The fields of an allowlist row that matching needs. Times are milliseconds since 1970. */
export interface ListedAddress {
  readonly chain_family: ChainFamily;
  readonly address: string;
  /** Null matches every chain of the family. */
  readonly chain_id: number | null;
  readonly active: boolean;
  /** Null: usable immediately. */
  readonly usable_after: number | null;
}

/** A payee address in normal form, and the chain on which it is paid. */
export interface PayeeAddress {
  readonly chain_family: ChainFamily;
  readonly address: string;
  /** Null if no chain is named; then only rows for every chain match. */
  readonly chain_id: number | null;
  /** True: the row must name the chain; a row for every chain is not enough. */
  readonly strict: boolean;
}

/** Why a node may not pay. Later codes are more specific. */
export const ALLOWLIST_CODES = [
  'ADDRESS_NOT_ALLOWLISTED',
  'ADDRESS_CHAIN_ID_REQUIRED',
  'ADDRESS_IN_COOLING_PERIOD',
] as const;
export type AllowlistCode = (typeof ALLOWLIST_CODES)[number];

/** Returns whether the row is for this address on this chain, active or not. */
export function isAbout(row: ListedAddress, payee: PayeeAddress): boolean {
  if (row.chain_family !== payee.chain_family || row.address !== payee.address) return false;
  return row.chain_id === null || row.chain_id === payee.chain_id;
}

/**
 * Returns whether an active row matches an address in any spelling. Use it only to show the row's
 * label; other code decides whether the address may be paid.
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

/** Returns null if a row allows the payment now, else why no row does. */
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
 * Returns the earliest time at which the address may be paid; null: immediately; undefined: no
 * active row matches.
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
