/** Decides when a failed callback is sent again, and when the service gives up. */

/** The pause stops growing after this many attempts, at 64 seconds. */
const LARGEST_EXPONENT = 6;

/** Returns the seconds to wait after this many failed attempts. */
export function backoffSeconds(attempts: number): number {
  return 2 ** Math.min(attempts, LARGEST_EXPONENT);
}

/** What follows a failed attempt: another attempt after a delay, or no further attempt. */
export type AfterFailure =
  | { readonly status: 'pending'; readonly delay_seconds: number }
  | { readonly status: 'dead_letter' };

/**
 * Returns a further attempt after a pause, until `maxAttempts` have failed. `attempts`: those
 * before this failure.
 */
export function afterFailure(attempts: number, maxAttempts: number): AfterFailure {
  const failed = attempts + 1;
  return failed >= maxAttempts
    ? { status: 'dead_letter' }
    : { status: 'pending', delay_seconds: backoffSeconds(failed) };
}
