/** Finds the oldest data on the page that could not be read again. */
import { useSyncExternalStore } from 'react';
import { queryClient } from './query-client.ts';

/**
 * Returns when the oldest of the failing reads last succeeded, in milliseconds since the epoch; 0
 * for a read that never succeeded, null while every read succeeds.
 */
export function useOldestFailure(): number | null {
  return useSyncExternalStore(
    (listener) => queryClient.getQueryCache().subscribe(listener),
    oldestFailure,
  );
}

function oldestFailure(): number | null {
  const failed = queryClient
    .getQueryCache()
    .getAll()
    .filter(
      (query) =>
        query.isActive() && (query.state.status === 'error' || query.state.fetchFailureCount > 0),
    )
    .map(({ state }) => state.dataUpdatedAt);
  return failed.length === 0 ? null : Math.min(...failed);
}
