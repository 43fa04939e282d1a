/**
 * A list: its columns, its rows, and how far it has been read. Of many rows only those in view are
 * in the page; which row of how many each one is, is said to who cannot see it.
 */
import { Fragment, useCallback, type ReactNode } from 'react';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Button } from './button.tsx';
import { FEW, ROW_HEIGHT, useLong, type Long } from './long.ts';
import { Problem } from './problem.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
}

interface RowsProps<Row> {
  /** What the rows are, for who cannot see the page. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

export interface TableProps<Row> extends RowsProps<Row> {
  /** Where the rows come from; without it all of them are here. */
  readonly query?: UseInfiniteQueryResult;
  readonly none?: string;
}

export function Table<Row>({ query, none = 'None.', ...table }: TableProps<Row>) {
  const { rows } = table;
  const isRead = query === undefined || query.isSuccess;
  const hasMore = query?.hasNextPage === true;
  return (
    <>
      {query?.isError === true && <Problem error={query.error} />}
      {rows.length === 0 ? (
        <p role="status">{isRead ? none : query.isError ? 'Nothing was read.' : 'Reading…'}</p>
      ) : rows.length > FEW ? (
        <ManyRows {...table} isAll={!hasMore} />
      ) : (
        <FewRows {...table} />
      )}
      {query !== undefined && rows.length > 0 && (
        <p className="small">
          {rows.length} shown{hasMore ? ', and there are more. ' : ', which is all.'}
          {hasMore && (
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

function FewRows<Row>({ caption, columns, rows, keyOf }: RowsProps<Row>) {
  return (
    <div className="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption className="visually-hidden">{caption}</caption>
        <Head columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <Cells columns={columns} row={row} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Least width of a column, so that the columns stay where they are while rows come and go. */
const COLUMN_REM = 8.5;

function ManyRows<Row>({
  caption,
  columns,
  rows,
  keyOf,
  isAll,
}: RowsProps<Row> & { isAll: boolean }) {
  const { scroller, drawn, gapAfter, measure, focus } = useLongRows(rows, keyOf, ROW_HEIGHT);
  return (
    <div {...scroller} className="table long" role="region" aria-label={caption} tabIndex={0}>
      <table
        // With the row of titles; -1: not known yet.
        aria-rowcount={isAll ? rows.length + 1 : -1}
        style={{ minWidth: `${String(columns.length * COLUMN_REM)}rem` }}
      >
        <caption className="visually-hidden">{caption}</caption>
        <Head columns={columns} rowIndex={1} />
        <tbody {...focus}>
          {drawn.map(({ index, key, gap }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <Fragment key={key}>
                <Gap height={gap} columns={columns.length} />
                <tr ref={measure} data-index={index} aria-rowindex={index + 2} tabIndex={-1}>
                  <Cells columns={columns} row={row} />
                </tr>
              </Fragment>
            );
          })}
          <Gap height={gapAfter} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** Which of these rows are drawn. */
function useLongRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string, height: number): Long {
  // By index, and the same function for the same rows.
  const keyAt = useCallback(
    (index: number): string => {
      const row = rows[index];
      return row === undefined ? '' : keyOf(row);
    },
    // `keyOf` says the same of a row whenever it is made.
    [rows],
  );
  return useLong({ count: rows.length, keyOf: keyAt, height });
}

/** The place of rows that are not drawn. */
function Gap({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" className="gap">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

function Head<Row>({
  columns,
  rowIndex,
}: {
  columns: readonly Column<Row>[];
  rowIndex?: number | undefined;
}) {
  return (
    <thead>
      <tr aria-rowindex={rowIndex}>
        {columns.map(({ title }) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return columns.map(({ title, cell }) => (
    <td key={title} data-title={title}>
      {cell(row)}
    </td>
  ));
}

/**
 * A list without columns, of which the same holds. Its entries follow each other at the list's own
 * place when there are few.
 */
export function List<Row>({
  label,
  className,
  rows,
  keyOf,
  entry,
  height,
}: {
  label: string;
  className: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  entry: (row: Row) => ReactNode;
  /** About how high an entry is, in pixels. */
  height: number;
}) {
  if (rows.length > FEW)
    return <ManyEntries {...{ label, className, rows, keyOf, entry, height }} />;
  return (
    <ul className={className} aria-label={label}>
      {rows.map((row) => (
        <li key={keyOf(row)}>{entry(row)}</li>
      ))}
    </ul>
  );
}

function ManyEntries<Row>({
  label,
  className,
  rows,
  keyOf,
  entry,
  height,
}: Parameters<typeof List<Row>>[0]) {
  const { scroller, drawn, gapAfter, measure, focus } = useLongRows(rows, keyOf, height);
  return (
    <div {...scroller} className="long" role="region" aria-label={label} tabIndex={0}>
      <ul className={className} aria-label={label} {...focus}>
        {drawn.map(({ index, key, gap }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <Fragment key={key}>
              {gap > 0 && <li aria-hidden="true" className="gap" style={{ height: gap }} />}
              <li
                ref={measure}
                data-index={index}
                aria-setsize={rows.length}
                aria-posinset={index + 1}
                tabIndex={-1}
              >
                {entry(row)}
              </li>
            </Fragment>
          );
        })}
        {gapAfter > 0 && <li aria-hidden="true" className="gap" style={{ height: gapAfter }} />}
      </ul>
    </div>
  );
}
