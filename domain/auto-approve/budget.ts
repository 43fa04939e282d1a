/**
 * What a policy's window may hold, and how much of it is used. The database counts by the same
 * rules, under the policy's lock.
 */
import { add, compare, subtract } from '../money.ts';

export interface WindowCaps {
  readonly window_hours: number | null;
  readonly max_amount_per_window: string | null;
  readonly max_count_per_window: number | null;
}

/** What of a window is used, by the time of reservation. */
export interface BudgetUsage {
  /** Neither consumed nor released. */
  readonly reserved_amount: string;
  readonly consumed_amount: string;
  /** Reservations that are not released. */
  readonly count_in_window: number;
}

export const NOTHING_USED: BudgetUsage = {
  reserved_amount: '0',
  consumed_amount: '0',
  count_in_window: 0,
};

/** Why an amount does not fit next to what is used, or null. */
export function fits(
  caps: WindowCaps,
  usage: BudgetUsage,
  amount: string,
): 'window_amount_exceeded' | 'window_count_exceeded' | null {
  const { max_amount_per_window: most, max_count_per_window: often } = caps;
  if (most !== null && compare(add(used(usage), amount), most) > 0) return 'window_amount_exceeded';
  return often !== null && usage.count_in_window + 1 > often ? 'window_count_exceeded' : null;
}

/**
 * What is left of the amount cap; negative when the cap was lowered below what is used, null
 * without a cap.
 */
export function available(caps: WindowCaps, usage: BudgetUsage): string | null {
  return caps.max_amount_per_window === null
    ? null
    : subtract(caps.max_amount_per_window, used(usage));
}

/** What counts against the amount cap. */
export function used(usage: BudgetUsage): string {
  return add(usage.reserved_amount, usage.consumed_amount);
}
