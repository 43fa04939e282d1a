/**
 * Shows that somebody changed something alone within the last seven days: on every page but *Needs
 * you*, which lists these changes.
 */
import { Link } from '@tanstack/react-router';
import { brokenGlass, LAST_WEEK, ofLastWeek } from './data/broken-glass.ts';
import { useRows } from './data/reads.ts';
import { useNow } from './parts/use-now.ts';

/** Renders nothing while the glass is whole. */
export function BrokenGlass() {
  const now = useNow();
  const { rows, query } = useRows('listChangeRequests', { query: LAST_WEEK });
  const says = brokenGlass(ofLastWeek(rows, now).length, query.hasNextPage);
  if (says === null) return null;
  return (
    <div role="status" className="notice">
      <p>
        <strong>{says}.</strong>{' '}
        <Link to={'/changes' as never} search={{ state: 'any', break_glass: 'true' } as never}>
          See them
        </Link>
      </p>
    </div>
  );
}
