/** Reads of the API, kept and repeated when the stream says that something has changed. */
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

/** One answer of a read. Its key is the operation and its input; `changed` knows both. */
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

/** What every list gives in one page; the first ones of a page are fewer, and sooner there. */
export const PAGE_MOST = 200;

/** The rows of a list, page after page. */
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
  // The same rows are the same array.
  const rows = useMemo(
    () => (data?.pages.flatMap((page) => page.rows) ?? []) as readonly RowOf<Id>[],
    [data],
  );
  return { rows, query };
}

/** Typed by the id, as the client's own `call`. */
export function callOf<Id extends OperationId>(id: Id, input: Input<Id>): Promise<ResultOf<Id>> {
  const call = theClient().call as (id: Id, input: Input<Id>) => Promise<ResultOf<Id>>;
  return call(id, input);
}
