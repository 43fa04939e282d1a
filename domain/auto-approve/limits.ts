/**
 * The limits that an automatic approval was decided by, with what they have used and would have
 * used after it.
 */
import { add, compare } from '../money.ts';
import { used, type BudgetUsage, type WindowCaps } from './budget.ts';

export interface LimitUse {
  readonly control: string;
  /** A decimal; a count is a whole one. */
  readonly limit: string;
  /** Null where the limit is on single requests. */
  readonly used: string | null;
  /** Null where nothing bounds what the plan moves. */
  readonly after: string | null;
  readonly ok: boolean;
}

/** The caps of a policy that limit anything. */
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

/** The limit as one entry; none where there is no limit. */
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
