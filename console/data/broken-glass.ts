/** Changes that somebody made alone, as the owner of the database may in an emergency. */

const WEEK_MS = 7 * 86_400_000;

/**
 * What is read to find them. The time is that of this page's load: with another one at each
 * rendering, each would be another read.
 */
export const LAST_WEEK = {
  break_glass: true,
  created_from: new Date(Date.now() - WEEK_MS).toISOString(),
  limit: 100,
} as const;

/**
 * Returns the changes of the seven days before `now`, which is in milliseconds, by this machine's
 * clock: what was read may be older by now.
 */
export function ofLastWeek<Row extends { readonly created_at: string }>(
  changes: readonly Row[],
  now: number,
): readonly Row[] {
  return changes.filter(({ created_at }) => Date.parse(created_at) > now - WEEK_MS);
}

/**
 * Returns a sentence about so many changes of the last seven days; null without any. `hasMore`:
 * there are more than were read.
 */
export function brokenGlass(count: number, hasMore: boolean): string | null {
  if (count === 0) return null;
  const changes =
    count === 1 && !hasMore ? '1 change was' : `${String(count)}${hasMore ? '+' : ''} changes were`;
  return `The glass was broken: ${changes} made alone in the last seven days`;
}
