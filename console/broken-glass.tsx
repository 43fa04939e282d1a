/** Shows on every page that somebody changed something alone within the last seven days. */
import { Link } from '@tanstack/react-router';
import { brokenGlass, LAST_WEEK } from './data/broken-glass.ts';
import { useRead } from './data/reads.ts';
import { useNow } from './parts/use-now.ts';

/** Renders nothing while the glass is whole. */
export function BrokenGlass() {
  const now = useNow();
  const { data } = useRead('listChangeRequests', { query: LAST_WEEK });
  const says = data === undefined ? null : brokenGlass(data, now);
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
