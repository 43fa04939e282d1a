/** Reads again what may be old, one read at a time of each. */
import type { Query } from '@tanstack/react-query';
import { mayBeOld, type Change } from './changes.ts';
import { queryClient } from './query-client.ts';

const waiting = new Set<string>();

/**
 * After a change, or everything by time. What is being read already is read once more after that:
 * it may have passed the change, and one that began anew with each change would never end.
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
