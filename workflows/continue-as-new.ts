/** Whether a run's history has become so long that another run should follow. */

/** Reasons that the history gives. */
const LONG: readonly string[] = [
  'HISTORY_SIZE_TOO_LARGE',
  'TOO_MANY_HISTORY_EVENTS',
  'TOO_MANY_UPDATES',
];

/**
 * Returns whether the server suggests a new run because of the history; servers before 1.30 name no
 * reasons. A server of 1.30.0 also suggests it to a pinned run while new runs start on another
 * build. The next run would be pinned to the same build and end at once, and so on. The history has
 * the reasons, so a replay returns the same.
 */
export function isTooLong(info: {
  readonly continueAsNewSuggested: boolean;
  readonly suggestedContinueAsNewReasons?: readonly string[];
}): boolean {
  const reasons = info.suggestedContinueAsNewReasons ?? [];
  const isForHistory = reasons.length === 0 || reasons.some((reason) => LONG.includes(reason));
  return info.continueAsNewSuggested && isForHistory;
}
