/** Changes that somebody made alone, as the owner of the database may in an emergency. */
import type { ResultOf } from '../../clients/http/operations.ts';

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
 * Returns a sentence about the changes of the seven days before `now`; null without any. `now` is
 * in milliseconds, by this machine's clock.
 */
export function brokenGlass(
  {
    change_requests,
    next_cursor,
  }: Pick<ResultOf<'listChangeRequests'>, 'change_requests' | 'next_cursor'>,
  now: number,
): string | null {
  const count = change_requests.filter(
    ({ created_at }) => Date.parse(created_at) > now - WEEK_MS,
  ).length;
  if (count === 0) return null;
  const changes =
    count === 1 && next_cursor === null
      ? '1 change was'
      : `${String(count)}${next_cursor === null ? '' : '+'} changes were`;
  return `The glass was broken: ${changes} made alone in the last seven days`;
}
