/** A list: its columns, its rows, and how far it has been read. */
import type { ReactNode } from 'react';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
}

export interface TableProps<Row> {
  /** What the rows are, for who cannot see the page. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Where the rows come from; without it all of them are here. */
  readonly query?: UseInfiniteQueryResult;
  readonly none?: string;
}

export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  query,
  none = 'None.',
}: TableProps<Row>) {
  const isRead = query === undefined || query.isSuccess;
  return (
    <>
      {query?.isError === true && <Problem error={query.error} />}
      {rows.length > 0 ? (
        <div className="table" role="region" aria-label={caption} tabIndex={0}>
          <table>
            <caption className="visually-hidden">{caption}</caption>
            <thead>
              <tr>
                {columns.map(({ title }) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map(({ title, cell }) => (
                    <td key={title} data-title={title}>
                      {cell(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <p role="status">{isRead ? none : query.isError ? 'Nothing was read.' : 'Reading…'}</p>
      )}
      {query !== undefined && rows.length > 0 && (
        <p className="small">
          {rows.length} shown{query.hasNextPage ? ', and there are more. ' : ', which is all.'}
          {query.hasNextPage && (
            <Button
              onClick={() => void query.fetchNextPage()}
              disabledBecause={query.isFetchingNextPage ? 'Reading…' : null}
            >
              Show more
            </Button>
          )}
        </p>
      )}
    </>
  );
}
