/**
 * What an account's ledger says of one action. Source of the rows: docs/perps-venue-facts.md 4.
 */
import { readDecimal } from '../../domain/money.ts';
import { FIRST_TAKEN_MS } from '../../domain/perps/nonce-window.ts';
import type { LedgerRow } from './shared-ledger.ts';

/**
 * From when on a row may be there, by the venue's clock. It takes a nonce of a day ahead of its own
 * time (docs/perps-venue-facts.md 2), so what was signed with one may have been carried out a day
 * before it.
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
 * The row of a withdrawal, which is there once it is paid out; `nonce` in milliseconds, which the
 * venue writes as microseconds.
 */
export function withdrawalRow(rows: readonly LedgerRow[], nonce: number): Arrived | null {
  const row = rows.find(
    ({ delta }) => delta.type === 'withdraw' && delta['nonce'] === nonce * 1_000,
  );
  return row === undefined ? null : arrived(row, 'usdc');
}

/** The row of what was sent to another account of the venue. */
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

/** The rows of a deposit's transaction, each with what was credited; null for an unreadable one. */
export function depositRows(
  rows: readonly LedgerRow[],
  transaction: string,
): readonly { readonly row: LedgerRow; readonly credited: string | null }[] {
  return rows
    .filter(
      ({ delta, hash }) =>
        delta.type === 'deposit' && hash.toLowerCase() === transaction.toLowerCase(),
    )
    .map((row) => ({ row, credited: readUsd(row.delta['usdc']) }));
}

/** Null where its numbers cannot be read, which is as if it were not there. */
function arrived({ delta, hash, time }: LedgerRow, field: string): Arrived | null {
  const received = readUsd(delta[field]);
  const fee = readUsd(delta['fee']) ?? '0';
  return received === null ? null : { received, fee, hash, time };
}

/** The venue writes amounts with a decimal point, and zeros behind it. */
function readUsd(value: unknown): string | null {
  return readDecimal(value);
}
