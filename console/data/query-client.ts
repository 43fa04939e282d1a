/** The cache of read results that all pages of this tab share. */
import { QueryCache, QueryClient, type Query } from '@tanstack/react-query';
import { ApiError, UnreachableError } from '../../clients/http/errors.ts';
import { leavesOpen } from '../../clients/http/retry.ts';
import { changesUnsaid } from './changes.ts';
import { PAGE_MOST } from './reads.ts';
import { isUnauthenticated, noteFailure, sessionStore } from './session.ts';

const RETRIES = 2;
const UNSAID_MS = 15_000;

/**
 * Returns the milliseconds until a read is repeated; false: not by time. A list of more pages is
 * repeated less often.
 */
function untilReadAgain({ queryKey, state: { data, error } }: Query): number | false {
  const { pages } = (data ?? {}) as { readonly pages?: readonly unknown[] };
  const read = Array.isArray(data) ? Math.ceil(data.length / PAGE_MOST) : (pages?.length ?? 1);
  return changesUnsaid(queryKey) && !isUnauthenticated(error) && UNSAID_MS * Math.max(1, read);
}

/** Returns whether the same read may succeed if repeated; a refusal is shown immediately. */
function mayPass(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof UnreachableError) && leavesOpen(error);
}

/**
 * Reads are repeated after events of the stream; results that may change without an event are also
 * repeated by time. The header shows since when a read has failed.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The default mode pauses a read while offline: the read would neither fail nor finish.
      networkMode: 'always',
      retry: (failures, error) => failures < RETRIES && mayPass(error),
      refetchInterval: untilReadAgain,
      refetchOnWindowFocus: true,
    },
    // A write is sent once; its sender reads the present state before it offers the write again.
    mutations: { retry: false },
  },
});

/** The operator whose data the cache holds; null before the first session. */
let reader: string | null = null;
// Clears the cache before a page renders for another operator, so that no data of the former
// operator is shown.
sessionStore.subscribe(() => {
  const state = sessionStore.get();
  const now = state.kind === 'open' ? state.key.operator : state.kind === 'no_key' ? null : reader;
  if (now !== reader) queryClient.clear();
  reader = now;
});
