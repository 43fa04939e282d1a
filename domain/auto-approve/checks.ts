/** Runs checks in order; the first check that fails decides. */
import {
  LATE_REASONS,
  type AutoApproveReason,
  type CheckResult,
  type LateReason,
} from './result.ts';

export interface Check<R extends AutoApproveReason> {
  readonly check: string;
  /** Why the check fails; null if it passes. */
  readonly refusal: R | null;
}

/** Returns the checks that were made, and why the last one failed. */
export function firstFailure<R extends AutoApproveReason>(
  checks: readonly Check<R>[],
): { readonly reason: R | null; readonly checks: readonly CheckResult[] } {
  const failed = checks.findIndex(({ refusal }) => refusal !== null);
  const seen = failed === -1 ? checks : checks.slice(0, failed + 1);
  return {
    reason: seen.at(-1)?.refusal ?? null,
    checks: seen.map(({ check, refusal }) => ({ check, passed: refusal === null })),
  };
}

/**
 * Returns the check results for a reason that only the approving transaction found: the reason's
 * own check failed, and the checks before it passed. For a reason without a check, such as a
 * refused reservation of funds, all checks passed.
 */
export function checksAt(
  order: readonly string[],
  failed: string | undefined,
): readonly CheckResult[] {
  const at = failed === undefined ? -1 : order.indexOf(failed);
  const seen = at === -1 ? order : order.slice(0, at + 1);
  return seen.map((check) => ({ check, passed: check !== failed }));
}

/**
 * Returns an object with one value for each reason that only the approving transaction may find.
 */
export function forLateReasons<T>(
  make: (reason: LateReason) => T,
): Readonly<Record<LateReason, T>> {
  return Object.fromEntries(LATE_REASONS.map((reason) => [reason, make(reason)])) as Record<
    LateReason,
    T
  >;
}
