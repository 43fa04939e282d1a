/**
 * Fetches balances for whoever asks: one fetch a venue at a time, which all who ask meanwhile
 * share.
 */
import type { BalanceFetcher, PoolBalance } from '../domain/balances.ts';

export interface BalanceDesk {
  readonly venues: readonly BalanceFetcher[];
  /**
   * Fetches and stores; null when nobody fetches this venue. Rejects when the venue gave no usable
   * answer. A fetch that began within the last second is answered with, unless `anew`: then only
   * one that is still under way.
   */
  refresh(venueKey: string, options?: { readonly anew: boolean }): Promise<void> | null;
}

/** The desk of a process that is bound to no venue. */
export const NO_BALANCES: BalanceDesk = { venues: [], refresh: () => null };

/**
 * A venue may be asked this often on demand: its own limits are worth more than a younger answer.
 */
const AT_MOST_EVERY_MS = 1_000;
const ANSWER_WITHIN_MS = 10_000;

/** `store` is given the fetch, since it must note the time before it begins. */
export function createBalanceDesk(
  fetchers: readonly BalanceFetcher[],
  store: (venueKey: string, fetch: () => Promise<readonly PoolBalance[]>) => Promise<void>,
): BalanceDesk {
  const byKey = new Map(fetchers.map((fetcher) => [fetcher.venue_key, fetcher]));
  const last = new Map<
    string,
    { readonly began: number; readonly done: Promise<void>; open: boolean }
  >();
  return {
    venues: fetchers,
    refresh(venueKey, { anew } = { anew: false }) {
      const fetcher = byKey.get(venueKey);
      if (fetcher === undefined) return null;
      const before = last.get(venueKey);
      const young = before !== undefined && performance.now() - before.began < AT_MOST_EVERY_MS;
      if (before !== undefined && (before.open || (young && !anew))) return before.done;
      const done = store(venueKey, () =>
        fetcher.fetch({ signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }),
      );
      const entry = { began: performance.now(), done, open: true };
      const close = (): void => {
        entry.open = false;
      };
      done.then(close, close);
      last.set(venueKey, entry);
      return done;
    },
  };
}
