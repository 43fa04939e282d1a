/** The allowlist, which has routes of its own beside the API's. */
import { useInfiniteQuery, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { paced } from './pace.ts';
import { PAGE_MOST } from './reads.ts';
import { theClient } from './session.ts';

export interface AllowedRow {
  readonly id: string;
  readonly chain_family: string;
  readonly address: string;
  readonly chain_id: number | null;
  readonly label: string | null;
  readonly reason: string;
  readonly active: boolean;
  readonly usable_after: string | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly revoked_at: string | null;
  readonly revoked_by: string | null;
}

interface Page {
  readonly allowed_addresses: readonly AllowedRow[];
  readonly next_cursor: string | null;
}

export const ALLOWLIST = '/dashboard/allowed-addresses';

export function useAllowlist(filters: Readonly<Record<string, string>>): {
  readonly rows: readonly AllowedRow[];
  readonly query: UseInfiniteQueryResult;
} {
  const query = useInfiniteQuery({
    queryKey: [ALLOWLIST, filters],
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page) => last.next_cursor,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      const limit = String(PAGE_MOST);
      const search = new URLSearchParams({ ...filters, limit, ...cursor }).toString();
      if (pageParam !== null) await paced(signal);
      const target = `${ALLOWLIST}?${search}`;
      return (await theClient().send({ method: 'GET', target, signal })).body as Page;
    },
  });
  const { data } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.allowed_addresses) ?? [], [data]);
  return { rows, query };
}
