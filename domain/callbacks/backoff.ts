/** When a failed callback is sent again, and when no longer. */

/** The pause stops growing after so many attempts, at 64 seconds. */
const LARGEST_EXPONENT = 6;

/** Seconds to wait after so many failed attempts. */
export function backoffSeconds(attempts: number): number {
  return 2 ** Math.min(attempts, LARGEST_EXPONENT);
}

/** What follows a failed attempt, of which `attempts` came before. */
export type AfterFailure =
  | { readonly status: 'pending'; readonly delay_seconds: number }
  | { readonly status: 'dead_letter' };

/** A further try after a pause, until `maxAttempts` have failed. */
export function afterFailure(attempts: number, maxAttempts: number): AfterFailure {
  const failed = attempts + 1;
  return failed >= maxAttempts
    ? { status: 'dead_letter' }
    : { status: 'pending', delay_seconds: backoffSeconds(failed) };
}
