/** Failures that a retry of the same plan meets again. */

/**
 * Refusals of the plan's own config and amounts, which never change once it is compiled. Causes
 * that can be mended outside of the plan (a balance, the allowlist, a venue, a limit of the
 * exchange) are not among them.
 */
const CAUSED_BY_PLAN: ReadonlySet<string> = new Set([
  'ADDRESS_INVALID',
  'AMOUNT_INVALID',
  'AMOUNT_PRECISION',
  'AMOUNT_TOO_PRECISE',
  'AMOUNT_UNRESOLVED',
  'CONFIG_INVALID',
  'MAX_AMOUNT_EXCEEDED',
  'TAG_INVALID',
  'TOPOLOGY_NOT_SUPPORTED',
  'USE_PERP_DEPOSIT',
]);

/** Whether another plan is needed, so that a retry would only fail again. */
export function isCausedByPlan(errorCode: string | null | undefined): boolean {
  return errorCode != null && CAUSED_BY_PLAN.has(errorCode);
}
