/** Balances: what a venue holds, and how much of it may still be taken. */
import type { JsonObject } from './json.ts';
import { subtract } from './money.ts';
import type { WithdrawalOutlook } from './withdrawal-outlook.ts';

/**
 * The balance of one pool of a venue's account, as a fetch returned it. Null: the venue does not
 * report the value. Amounts are decimal strings.
 */
export interface PoolBalance {
  /** In upper case, for example SPOT. */
  readonly account_type: string;
  /** In upper case. */
  readonly asset: string;
  readonly available: string | null;
  readonly withdrawable: string | null;
  readonly total: string | null;
  readonly details: JsonObject | null;
}

/** One fetch of a venue. */
export interface FetchedBalances {
  /** All pools of the account. */
  readonly pools: readonly PoolBalance[];
  /** Null: the venue shows none, or it could not be read this time. */
  readonly outlook: WithdrawalOutlook | null;
}

/**
 * Reads all balances of one account. Throws if the venue's answer is not usable; a returned list of
 * pools is always complete.
 */
export interface BalanceFetcher {
  readonly venue_key: string;
  readonly interval_seconds: number;
  fetch(call: { readonly signal: AbortSignal }): Promise<FetchedBalances>;
}

/**
 * Returns the exact amount that may still be taken; negative if more is reserved than the venue
 * holds. Null if the venue does not report it.
 */
export function effectiveWithdrawable(
  withdrawable: string | null,
  pendingOutflow: string,
): string | null {
  return withdrawable === null ? null : subtract(withdrawable, pendingOutflow);
}

/** Returns which kinds of reservations reduce the amount that may be taken; null: none. */
export function effectiveReason(holders: {
  readonly movements: number;
  readonly transfers: number;
}): string | null {
  if (holders.movements > 0 && holders.transfers > 0) return 'mixed_reservations';
  if (holders.transfers > 0) return 'capital_transfer_reservation';
  return holders.movements > 0 ? 'movement_reservation' : null;
}
