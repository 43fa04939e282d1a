/** Reads the allowlist, which has dashboard routes outside the API. */
import { useInfiniteQuery, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { AllowedAddress, AllowedAddressList } from '../../api/dashboard/schema.ts';
import { paced } from './pace.ts';
import { PAGE_MOST } from './reads.ts';
import { theClient } from './session.ts';

export const ALLOWLIST = '/dashboard/allowed-addresses';

export function useAllowlist(filters: Readonly<Record<string, string>>): {
  readonly rows: readonly AllowedAddress[];
  readonly query: UseInfiniteQueryResult;
} {
  const query = useInfiniteQuery({
    queryKey: [ALLOWLIST, filters],
    initialPageParam: null as string | null,
    getNextPageParam: (last: AllowedAddressList) => last.next_cursor,
    queryFn: async ({ pageParam, signal }): Promise<AllowedAddressList> => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      const limit = String(PAGE_MOST);
      const search = new URLSearchParams({ ...filters, limit, ...cursor }).toString();
      if (pageParam !== null) await paced(signal);
      const target = `${ALLOWLIST}?${search}`;
      return (await theClient().send({ method: 'GET', target, signal })).body as AllowedAddressList;
    },
  });
  const { data } = query;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.allowed_addresses) ?? [], [data]);
  return { rows, query };
}
