/** One cache of what was read, for every page of this tab. */
import { QueryCache, QueryClient } from '@tanstack/react-query';
import { isUnauthenticated, noteFailure } from './session.ts';

const RETRIES = 2;

/**
 * Reads are repeated by events of the stream, not by time; what is shown while it is read again is
 * marked by the header.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < RETRIES && !isUnauthenticated(error),
      refetchOnWindowFocus: true,
    },
    // A write leaves once; whoever sent it looks before it is offered again.
    mutations: { retry: false },
  },
});
