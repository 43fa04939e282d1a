/** Search results for a text; each hit links to its page. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ResultOf } from '../../../clients/http/operations.ts';
import { useRead } from '../../data/reads.ts';
import { Problem } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Id } from '../../parts/values.tsx';
import { KINDS, MATCHED, pageOf } from './hits.ts';

type Hit = ResultOf<'searchAll'>['hits'][number];

export default function Search() {
  const { q = '' } = useSearch({ strict: false });
  const name = q.trim();
  const { data, error } = useRead('searchAll', { query: { q: name } }, { enabled: name !== '' });
  const hits = data?.hits ?? [];
  useOpenOnly(hits);
  return (
    <>
      <h1>Search</h1>
      {name === '' ? (
        <p>
          Write a whole id, transaction hash, external reference, idempotency key or address into
          the field above.
        </p>
      ) : (
        <p>
          Everything with exactly the name <Text>{name}</Text>.
        </p>
      )}
      <Problem error={error} />
      {name !== '' && (error === null || data !== undefined) && (
        <Table
          caption="Hits"
          rows={hits}
          keyOf={({ kind, id }) => `${kind} ${id}`}
          none={
            data === undefined ? 'Reading…' : 'Nothing has this name. Only whole names are found.'
          }
          columns={[
            { title: 'Kind', cell: ({ kind }) => KINDS[kind] ?? kind.replaceAll('_', ' ') },
            { title: 'What', cell: (hit) => <Title hit={hit} /> },
            { title: 'Id', cell: ({ id }) => <Id>{id}</Id> },
            {
              title: 'Found by',
              cell: ({ matched }) => MATCHED[matched] ?? matched.replaceAll('_', ' '),
            },
          ]}
        />
      )}
    </>
  );
}

function Title({ hit }: { hit: Hit }) {
  const page = pageOf(hit);
  const title = <Text>{hit.title}</Text>;
  return page === null ? title : <Link to={page as never}>{title}</Link>;
}

/**
 * Opens the movement when it is the only hit. Its page replaces the search page in the browser
 * history.
 */
function useOpenOnly(hits: readonly Hit[]): void {
  const navigate = useNavigate();
  const [only] = hits.length === 1 ? hits : [];
  const page = only?.kind === 'movement' ? pageOf(only) : null;
  useEffect(() => {
    if (page !== null) void navigate({ to: page as never, search: {} as never, replace: true });
  }, [page, navigate]);
}
