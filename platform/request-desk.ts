/**
 * A request desk within one process, for where no database is: tests, and checks that send nothing.
 */
import type { RequestDesk } from '../domain/request-desk.ts';

interface Row {
  /** When the budget is whole again, in milliseconds since 1970. */
  whole_at: number;
  stopped_until: number;
  nonce: number;
  turn: { readonly until: number } | null;
}

/** Returns an empty desk. `now` returns milliseconds since 1970. */
export function createLocalRequestDesk(now: () => number = Date.now): RequestDesk {
  const rows = new Map<string, Row>();
  const rowOf = (key: string): Row => {
    const row = rows.get(key) ?? { whole_at: 0, stopped_until: 0, nonce: 0, turn: null };
    rows.set(key, row);
    return row;
  };
  const stoppedFor = (key: string): number =>
    Math.max(0, Math.ceil(rowOf(key).stopped_until - now()));
  return {
    take(key, cost, { capacity, units_per_second }, withinMs) {
      const row = rowOf(key);
      const at = now();
      const first = Math.max(at, row.stopped_until);
      const wholeAt = Math.max(row.whole_at, first) + (cost / units_per_second) * 1_000;
      // A request that costs more than the capacity waits for a whole budget, not for ever.
      const burst = (Math.max(capacity, cost) / units_per_second) * 1_000;
      const wait = Math.ceil(Math.max(wholeAt - burst, first) - at);
      if (wait > withinMs) return Promise.resolve(null);
      row.whole_at = wholeAt;
      return Promise.resolve(wait);
    },
    stoppedFor: (key) => Promise.resolve(stoppedFor(key)),
    stop(key, milliseconds) {
      const row = rowOf(key);
      row.stopped_until = Math.max(row.stopped_until, now() + milliseconds);
      return Promise.resolve();
    },
    takeTurn(key, milliseconds) {
      const row = rowOf(key);
      if (row.turn !== null && row.turn.until > now()) return Promise.resolve(null);
      const turn = { until: now() + milliseconds };
      row.turn = turn;
      row.nonce = Math.max(row.nonce + 1, Math.floor(now()));
      return Promise.resolve({
        nonce: String(row.nonce),
        release() {
          if (row.turn === turn) row.turn = null;
          return Promise.resolve();
        },
      });
    },
  };
}
