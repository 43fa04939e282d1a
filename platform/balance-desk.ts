/** Fetches balances: one fetch at a time for each venue; all callers during a fetch share it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BalanceFetcher, FetchedBalances } from '../domain/balances.ts';
import { APART_MS } from './loop.ts';

export interface BalanceDesk {
  readonly venues: readonly BalanceFetcher[];
  /**
   * Fetches and stores the venue's balances; null when this process cannot fetch the venue. Rejects
   * when the venue returned no usable answer. Shares a fetch that is running or started within the
   * last second.
   */
  refresh(venueKey: string, options?: Wanted): Promise<void> | null;
  /**
   * Returns the seconds from the first to the last failed fetch of the venue without one that
   * succeeded; null when none has failed, or this process no longer fetches it.
   */
  failingSeconds(venueKey: string): number | null;
}

/** Which recent fetches the caller must not share. */
export interface Wanted {
  /** Do not share a fetch that has ended. */
  readonly anew?: boolean;
  /**
   * Do not share a fetch that started before this time of `performance.now()`. The next fetch
   * starts at least a second after the last one, and all waiting callers share it.
   */
  readonly since?: number;
}

/** The desk of a process without venues. */
export const NO_BALANCES: BalanceDesk = {
  venues: [],
  refresh: () => null,
  failingSeconds: () => null,
};

/** Milliseconds between fetches of a venue, to stay within the venue's own limits. */
const AT_MOST_EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 10_000;

/**
 * Creates the desk. `store` receives the fetch as a function, because it must read the time before
 * the fetch starts. `now`: milliseconds of a clock that never goes back.
 */
export function createBalanceDesk(
  fetchers: readonly BalanceFetcher[],
  store: (venueKey: string, fetch: () => Promise<FetchedBalances>) => Promise<void>,
  now: () => number = () => performance.now(),
): BalanceDesk {
  const byKey = new Map(fetchers.map((fetcher) => [fetcher.venue_key, fetcher]));
  const last = new Map<string, Fetch>();
  const next = new Map<string, Promise<void>>();
  /** Starts of the first and the last failed fetch since the last one that succeeded. */
  const failing = new Map<string, { readonly since: number; readonly last: number }>();

  const noteFailure = (fetcher: BalanceFetcher, began: number): void => {
    const before = failing.get(fetcher.venue_key);
    const isFirst = before === undefined || began - before.last > apartMs(fetcher);
    failing.set(fetcher.venue_key, { since: isFirst ? began : before.since, last: began });
  };

  const begin = (fetcher: BalanceFetcher): Promise<void> => {
    const began = now();
    const done = store(fetcher.venue_key, () =>
      fetcher.fetch({ signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }),
    );
    const fetch: Fetch = { began, done, open: true };
    const close = (): void => {
      fetch.open = false;
    };
    done.then(close, close);
    done.then(
      () => failing.delete(fetcher.venue_key),
      () => {
        noteFailure(fetcher, began);
      },
    );
    last.set(fetcher.venue_key, fetch);
    return done;
  };

  /**
   * Starts the next fetch after the current one. If the current fetch fails, the next one fails
   * too: the venue has just failed to answer.
   */
  const nextOf = (fetcher: BalanceFetcher, before: Fetch): Promise<void> => {
    const key = fetcher.venue_key;
    const known = next.get(key);
    if (known !== undefined) return known;
    const done = (async () => {
      try {
        if (before.open) await before.done;
        await sleep(before.began + AT_MOST_EVERY_MS - now());
      } finally {
        next.delete(key);
      }
      return begin(fetcher);
    })();
    next.set(key, done);
    return done;
  };

  return {
    venues: fetchers,
    refresh(venueKey, { anew = false, since } = {}) {
      const fetcher = byKey.get(venueKey);
      if (fetcher === undefined) return null;
      const before = last.get(venueKey);
      if (before === undefined) return begin(fetcher);
      if (since !== undefined) return before.began >= since ? before.done : nextOf(fetcher, before);
      const young = now() - before.began < AT_MOST_EVERY_MS;
      return before.open || (young && !anew) ? before.done : begin(fetcher);
    },
    failingSeconds(venueKey) {
      const fetcher = byKey.get(venueKey);
      const failed = failing.get(venueKey);
      if (fetcher === undefined || failed === undefined) return null;
      return now() - failed.last > apartMs(fetcher) ? null : (failed.last - failed.since) / 1_000;
    },
  };
}

/** Milliseconds after which a failure is over, as another process may fetch the venue by now. */
function apartMs({ interval_seconds }: BalanceFetcher): number {
  return Math.max(APART_MS, 2_000 * interval_seconds);
}

interface Fetch {
  readonly began: number;
  readonly done: Promise<void>;
  open: boolean;
}
