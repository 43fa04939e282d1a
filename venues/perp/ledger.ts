/** Finds one action in an account's ledger. Source of the rows: docs/perps-venue-facts.md 4. */
import { readDecimal } from '../../domain/money.ts';
import { FIRST_TAKEN_MS } from '../../domain/perps/nonce-window.ts';
import type { LedgerRow } from './shared-ledger.ts';

/**
 * The earliest time of a row, by the venue's clock. The venue accepts a nonce up to a day ahead of
 * its time (docs/perps-venue-facts.md 2), so an action may have been carried out a day before its
 * nonce.
 */
export function rowsSince(nonce: number): number {
  return Math.max(0, nonce - FIRST_TAKEN_MS);
}

export interface Arrived {
  /** In units of the asset. */
  readonly received: string;
  readonly fee: string;
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/**
 * The row of a withdrawal, which appears once it is paid out. `nonce` in milliseconds; the venue
 * writes microseconds.
 */
export function withdrawalRow(rows: readonly LedgerRow[], nonce: number): Arrived | null {
  const row = rows.find(
    ({ delta }) => delta.type === 'withdraw' && delta['nonce'] === nonce * 1_000,
  );
  return row === undefined ? null : arrived(row, 'usdc');
}

/** The row of a transfer to another account of the venue. */
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

/** The rows of a deposit's transaction, each with the credited amount; null where unreadable. */
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

/** Null where its numbers cannot be read; the row then counts as missing. */
function arrived({ delta, hash, time }: LedgerRow, field: string): Arrived | null {
  const received = readDecimal(delta[field]);
  const fee = readDecimal(delta['fee']) ?? '0';
  return received === null ? null : { received, fee, hash, time };
}
