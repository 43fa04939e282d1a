/** One cache of what was read, for every page of this tab. */
import { QueryCache, QueryClient, type Query } from '@tanstack/react-query';
import { ApiError, UnreachableError } from '../../clients/http/errors.ts';
import { leavesOpen } from '../../clients/http/retry.ts';
import { changesUnsaid } from './changes.ts';
import { PAGE_MOST } from './reads.ts';
import { isUnauthenticated, noteFailure, sessionStore } from './session.ts';

const RETRIES = 2;
const UNSAID_MS = 15_000;

/** As often as what was read has pages: the longer it is, the more seldom. */
function untilReadAgain({ queryKey, state: { data, error } }: Query): number | false {
  const { pages } = (data ?? {}) as { readonly pages?: readonly unknown[] };
  const read = Array.isArray(data) ? Math.ceil(data.length / PAGE_MOST) : (pages?.length ?? 1);
  return changesUnsaid(queryKey) && !isUnauthenticated(error) && UNSAID_MS * Math.max(1, read);
}

/** Whether the same read may succeed in a moment; a refusal is shown at once. */
function mayPass(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof UnreachableError) && leavesOpen(error);
}

/**
 * Reads are repeated by events of the stream; what may change without one, by time. The header says
 * since when something could not be read again.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A read that waits for the network would neither fail nor end, whatever waits for it.
      networkMode: 'always',
      retry: (failures, error) => failures < RETRIES && mayPass(error),
      refetchInterval: untilReadAgain,
      refetchOnWindowFocus: true,
    },
    // A write leaves once; whoever sent it looks before it is offered again.
    mutations: { retry: false },
  },
});

/** Whose rows it holds. */
let reader: string | null = null;
// Before any page is drawn for another operator: of the former one nothing is shown.
sessionStore.subscribe(() => {
  const state = sessionStore.get();
  const now = state.kind === 'open' ? state.key.operator : state.kind === 'no_key' ? null : reader;
  if (now !== reader) queryClient.clear();
  reader = now;
});
