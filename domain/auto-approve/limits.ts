/** The limits that decided an automatic approval, with their use before and after it. */
import { add, compare } from '../money.ts';
import { used, type BudgetUsage, type WindowCaps } from './budget.ts';

export interface LimitUse {
  readonly control: string;
  /** A decimal; a whole number for a count. */
  readonly limit: string;
  /** Null if the limit is for single requests. */
  readonly used: string | null;
  /** Null if the amount that the plan moves has no upper bound. */
  readonly after: string | null;
  readonly ok: boolean;
}

/** Returns the caps that the policy sets, with their use. */
export function policyLimits(
  caps: WindowCaps & { readonly max_amount_per_request: string | null },
  usage: BudgetUsage,
  amount: string | null,
): readonly LimitUse[] {
  const count = String(usage.count_in_window);
  return [
    ...limitOf('policy.max_amount_per_request', caps.max_amount_per_request, null, amount),
    ...limitOf('policy.max_amount_per_window', caps.max_amount_per_window, used(usage), amount),
    ...limitOf(
      'policy.max_count_per_window',
      caps.max_count_per_window?.toString() ?? null,
      count,
      '1',
    ),
  ];
}

/** Returns the limit as a list with one entry; empty if there is no limit. */
export function limitOf(
  control: string,
  limit: string | null,
  usedAlready: string | null,
  more: string | null,
): readonly LimitUse[] {
  if (limit === null) return [];
  const after = more === null ? null : add(usedAlready ?? '0', more);
  return [
    { control, limit, used: usedAlready, after, ok: after !== null && compare(after, limit) <= 0 },
  ];
}
