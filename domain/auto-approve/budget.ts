/**
 * The limits of a policy's time window, and how much of them is used. The database counts by the
 * same rules, while it holds the policy's lock.
 */
import { add, compare, subtract } from '../money.ts';

export interface WindowCaps {
  readonly window_hours: number | null;
  readonly max_amount_per_window: string | null;
  readonly max_count_per_window: number | null;
}

/** How much of a window is used. A reservation counts in the window in which it was made. */
export interface BudgetUsage {
  /** Amount of the reservations that are neither consumed nor released. */
  readonly reserved_amount: string;
  readonly consumed_amount: string;
  /** Number of reservations that are not released. */
  readonly count_in_window: number;
}

export const NOTHING_USED: BudgetUsage = {
  reserved_amount: '0',
  consumed_amount: '0',
  count_in_window: 0,
};

/** Returns why the amount does not fit into the rest of the window, or null if it fits. */
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
 * Returns what is left of the amount cap; negative if the cap was lowered below the used amount,
 * null without a cap.
 */
export function available(caps: WindowCaps, usage: BudgetUsage): string | null {
  return caps.max_amount_per_window === null
    ? null
    : subtract(caps.max_amount_per_window, used(usage));
}

/** Returns the amount that counts against the amount cap. */
export function used(usage: BudgetUsage): string {
  return add(usage.reserved_amount, usage.consumed_amount);
}
