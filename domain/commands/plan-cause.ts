/** Lists failures that a retry of the same plan would meet again. */

/**
 * Error codes for the plan's own config and amounts, which never change after compilation. Causes
 * that can be corrected outside the plan (a balance, the allowlist, a venue, a limit of the
 * exchange) are not listed.
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

/** Returns whether a retry would fail again, so that another plan is needed. */
export function isCausedByPlan(errorCode: string | null | undefined): boolean {
  return errorCode != null && CAUSED_BY_PLAN.has(errorCode);
}
