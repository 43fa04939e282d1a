/** One cache of what was read, for every page of this tab. */
import { QueryClient } from '@tanstack/react-query';

/**
 * Reads are repeated by events of the stream, not by time; what is shown while it is read again is
 * marked by the header.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 5_000, retry: 2, refetchOnWindowFocus: true },
    // A write leaves once; whoever sent it looks before it is offered again.
    mutations: { retry: false },
  },
});
