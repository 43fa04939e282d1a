/** Repeats reads whose cached results may be old; at most one repeat waits for each read. */
import type { Query } from '@tanstack/react-query';
import { mayBeOld, type Change } from './changes.ts';
import { queryClient } from './query-client.ts';

const waiting = new Set<string>();

/**
 * Repeats the reads that `change` may have made old; null repeats all reads. A read that is in
 * progress may have missed the change, so it finishes and then runs once more. To restart such a
 * read with each change could keep it from ever finishing.
 */
export function readAgain(change: Change | null): void {
  const may = ({ queryKey }: Query): boolean => change === null || mayBeOld(queryKey, change);
  for (const query of queryClient.getQueryCache().findAll({ predicate: may })) again(query);
}

function again(query: Query): void {
  const { queryHash, queryKey, promise } = query;
  if (query.state.fetchStatus !== 'fetching' || promise === undefined) {
    void queryClient.invalidateQueries({ queryKey, exact: true });
    return;
  }
  if (waiting.has(queryHash)) return;
  waiting.add(queryHash);
  const next = (): void => {
    waiting.delete(queryHash);
    again(query);
  };
  promise.then(next, next);
}
