/** What waits for this operator, for others, and what is broken. */
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useRows } from '../../data/reads.ts';
import { MOVEMENT_COLUMNS, type MovementRow } from '../../parts/movement-values.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';
import { groupOf, type Group } from './groups.ts';

const SECTIONS: readonly {
  readonly group: Group;
  readonly title: string;
  readonly none: string;
}[] = [
  { group: 'you', title: 'Waits for you', none: 'Nothing waits for you.' },
  { group: 'broken', title: 'Broken', none: 'Nothing is broken.' },
  { group: 'others', title: 'Waits for others', none: 'Nothing waits for a venue or a team.' },
];

export default function NeedsYou() {
  const { rows, query } = useRows('listMovements', {
    query: { needs_attention: 'true', limit: 200 },
  });
  const letters = useRows('listCallbacks', { query: { status: 'dead_letter', limit: 50 } });
  const of = (group: Group): readonly MovementRow[] =>
    rows.filter(({ attention_reason }) => groupOf(attention_reason) === group);
  const count = of('you').length + of('broken').length;
  const more = query.hasNextPage ? '+' : '';
  useEffect(() => {
    document.title = query.isSuccess
      ? `(${String(count)}${more}) Needs you · Fund movements`
      : 'Needs you · Fund movements';
  }, [count, more, query.isSuccess]);
  return (
    <>
      <h1>Needs you</h1>
      {query.isError && <Problem error={query.error} />}
      {query.isPending && <p role="status">Reading…</p>}
      {query.data !== undefined &&
        SECTIONS.map(({ group, title, none }) => (
          <section key={group} aria-label={title}>
            <h2>
              {title} ({of(group).length}
              {more})
            </h2>
            {group === 'you' && of('you').length > 0 && (
              <p>
                <Link to={'/approvals' as never}>Decide several at once</Link>
              </p>
            )}
            <Table
              caption={title}
              columns={MOVEMENT_COLUMNS}
              rows={of(group)}
              keyOf={({ movement_id }) => movement_id}
              none={none}
            />
          </section>
        ))}
      {query.hasNextPage && (
        <p>
          There are more than these; <Link to={'/movements' as never}>the list</Link> has all.
        </p>
      )}
      {letters.rows.length > 0 && (
        <section aria-label="Callbacks that were not delivered">
          <h2>Callbacks that were not delivered</h2>
          <p>
            <Link to={'/callbacks' as never} search={{ status: 'dead_letter' } as never}>
              {letters.rows.length}
              {letters.query.hasNextPage ? '+' : ''} dead letters
            </Link>
          </p>
        </section>
      )}
    </>
  );
}
