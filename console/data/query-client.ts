/** One cache of what was read, for every page of this tab. */
import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError, UnreachableError } from '../../clients/http/errors.ts';
import { leavesOpen } from '../../clients/http/retry.ts';
import { noteFailure, sessionStore } from './session.ts';

const RETRIES = 2;

/** Whether the same read may succeed in a moment; a refusal is shown at once. */
function mayPass(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof UnreachableError) && leavesOpen(error);
}

/**
 * Reads are repeated by events of the stream, not by time; what is shown while it is read again is
 * marked by the header.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < RETRIES && mayPass(error),
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
