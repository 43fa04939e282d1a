/**
 * A list: its columns, its rows, and whether more can be loaded. Of a long list only the rows in
 * view are in the page; screen readers get each row's position and the number of rows.
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
  /** What the rows are, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

export interface TableProps<Row> extends RowsProps<Row> {
  /** The query that loads the rows; absent when `rows` has all of them. */
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

/** Minimum width of a column, so that columns keep their position while rows come and go. */
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
        // Includes the header row; -1 while the number is not known.
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

/** Returns which of the rows to render. */
function useLongRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string, height: number): Long {
  // Maps an index to the row's key; stays the same function while the rows are the same.
  const keyAt = useCallback(
    (index: number): string => {
      const row = rows[index];
      return row === undefined ? '' : keyOf(row);
    },
    // `keyOf` may be a new function at each render, but it returns the same key for a row.
    [rows],
  );
  return useLong({ count: rows.length, keyOf: keyAt, height });
}

/** Takes the space of rows that are not rendered. */
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
 * A list without columns that renders long lists in the same way. A short list does not scroll
 * separately.
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
  /** Approximate height of an entry, in pixels. */
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
