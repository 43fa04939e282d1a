/** What a venue holds for us, and what of it is still free. */
import type { JsonObject } from './json.ts';
import { subtract } from './money.ts';

/**
 * One pool of a venue's account, as a fetch returned it; null for what the venue does not report.
 * Amounts are decimal strings.
 */
export interface PoolBalance {
  /** Upper case, for example SPOT. */
  readonly account_type: string;
  /** Upper case. */
  readonly asset: string;
  readonly available: string | null;
  readonly withdrawable: string | null;
  readonly total: string | null;
  readonly details: JsonObject | null;
}

/**
 * Reads everything of one account. Throws when the answer is not usable; an answer is always
 * complete.
 */
export interface BalanceFetcher {
  readonly venue_key: string;
  readonly interval_seconds: number;
  fetch(call: { readonly signal: AbortSignal }): Promise<readonly PoolBalance[]>;
}

/**
 * What may still be taken: exact, and negative when more is held than is there. Null when the venue
 * does not report it.
 */
export function effectiveWithdrawable(
  withdrawable: string | null,
  pendingOutflow: string,
): string | null {
  return withdrawable === null ? null : subtract(withdrawable, pendingOutflow);
}

/** Why less may be taken than the venue reports, by what holds it. */
export function effectiveReason(holders: {
  readonly movements: number;
  readonly transfers: number;
}): string | null {
  if (holders.movements > 0 && holders.transfers > 0) return 'mixed_reservations';
  if (holders.transfers > 0) return 'capital_transfer_reservation';
  return holders.movements > 0 ? 'movement_reservation' : null;
}
