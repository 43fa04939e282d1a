/** Reads of the API: cached, and repeated when the stream reports a change. */
import {
  useInfiniteQuery,
  useQuery,
  type UseInfiniteQueryResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import type {
  Input,
  OperationId,
  PagedId,
  ResultOf,
  RowOf,
} from '../../clients/http/operations.ts';
import { OPERATIONS } from '../../clients/http/operations.ts';
import { useMemo } from 'react';
import { paced } from './pace.ts';
import { theClient } from './session.ts';

interface ReadOptions {
  readonly enabled?: boolean;
}

/**
 * Reads one operation. The cache key is the operation and its input, which `mayBeOld` compares with
 * a change.
 */
export function useRead<Id extends OperationId>(
  id: Id,
  input: Input<Id>,
  { enabled = true }: ReadOptions = {},
): UseQueryResult<ResultOf<Id>> {
  return useQuery({
    queryKey: [id, input],
    enabled,
    queryFn: ({ signal }) => callOf(id, { ...input, signal }),
  });
}

interface Page {
  readonly rows: readonly unknown[];
  readonly next: string | null;
}

export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly query: UseInfiniteQueryResult;
}

/**
 * The largest page that every list returns. The first page uses the smaller default, which arrives
 * sooner.
 */
export const PAGE_MOST = 200;

/** Reads a list page by page and returns the rows so far. */
export function useRows<Id extends PagedId>(
  id: Id,
  input: Input<Id>,
  { enabled = true }: ReadOptions = {},
): Rows<RowOf<Id>> {
  const query = useInfiniteQuery({
    queryKey: [id, input],
    enabled,
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page) => last.next,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const { query: filters } = input as { readonly query?: object };
      const cursor = pageParam === null ? {} : { cursor: pageParam, limit: PAGE_MOST };
      if (pageParam !== null) await paced(signal);
      const answer = await callOf(id, {
        ...input,
        query: { ...filters, ...cursor },
        signal,
      } as Input<Id>);
      const page = answer as Readonly<Record<string, unknown>>;
      const rows = page[OPERATIONS[id].paged ?? ''];
      const next = page['next_cursor'];
      return {
        rows: Array.isArray(rows) ? (rows as readonly unknown[]) : [],
        next: typeof next === 'string' ? next : null,
      };
    },
  });
  const { data } = query;
  // Keeps the same array while the rows are the same.
  const rows = useMemo(
    () => (data?.pages.flatMap((page) => page.rows) ?? []) as readonly RowOf<Id>[],
    [data],
  );
  return { rows, query };
}

/** Calls an operation; input and result are typed by its id, as in the client's own `call`. */
export function callOf<Id extends OperationId>(id: Id, input: Input<Id>): Promise<ResultOf<Id>> {
  const call = theClient().call as (id: Id, input: Input<Id>) => Promise<ResultOf<Id>>;
  return call(id, input);
}
