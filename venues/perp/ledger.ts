/**
 * Finds one action in an account's ledger. Source of the rows' shape: docs/perps-venue-facts.md 4.
 */
import { readDecimal } from '../../domain/money.ts';
import { FIRST_TAKEN_MS } from '../../domain/perps/nonce-window.ts';
import type { LedgerRow } from './shared-ledger.ts';

/**
 * Returns the earliest possible time of an action's row, by the venue's clock. The venue accepts a
 * nonce up to a day ahead of its time (docs/perps-venue-facts.md 2), so the action may have been
 * carried out a day before its nonce.
 */
export function rowsSince(nonce: number): number {
  return Math.max(0, nonce - FIRST_TAKEN_MS);
}

export interface Arrived {
  /** The received amount, in units of the asset; so is `fee`. */
  readonly received: string;
  readonly fee: string;
  readonly hash: string;
  /** Time of the ledger row, in milliseconds since 1970. */
  readonly time: number;
}

/**
 * Returns the row of a withdrawal, which appears once the withdrawal is paid out. `nonce` is in
 * milliseconds; the venue's rows have microseconds.
 */
export function withdrawalRow(rows: readonly LedgerRow[], nonce: number): Arrived | null {
  const row = rows.find(
    ({ delta }) => delta.type === 'withdraw' && delta['nonce'] === nonce * 1_000,
  );
  return row === undefined ? null : arrived(row, 'usdc');
}

/** Returns the row of a transfer to another account of the venue. */
export function sendRow(
  rows: readonly LedgerRow[],
  nonce: number,
  destination: string,
): Arrived | null {
  const row = rows.find(
    ({ delta }) =>
      delta.type === 'send' &&
      delta['nonce'] === nonce &&
      String(delta['destination']).toLowerCase() === destination.toLowerCase(),
  );
  return row === undefined ? null : arrived(row, 'amount');
}

/**
 * Returns the rows of a deposit's transaction with the credited amounts; null: unreadable amount.
 */
export function depositRows(
  rows: readonly LedgerRow[],
  transaction: string,
): readonly { readonly row: LedgerRow; readonly credited: string | null }[] {
  return rows
    .filter(
      ({ delta, hash }) =>
        delta.type === 'deposit' && hash.toLowerCase() === transaction.toLowerCase(),
    )
    .map((row) => ({ row, credited: readDecimal(row.delta['usdc']) }));
}

/** Returns the amounts of a row; null if they are unreadable: the row then counts as missing. */
function arrived({ delta, hash, time }: LedgerRow, field: string): Arrived | null {
  const received = readDecimal(delta[field]);
  const fee = readDecimal(delta['fee']) ?? '0';
  return received === null ? null : { received, fee, hash, time };
}
