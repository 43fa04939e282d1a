/** Which audit rows the sealer reads next. */
import { BEGINNING, type AuditPlace, type SealPlace } from '../../store/audit-seals.ts';

/** The usual read: nearly every row is committed within this time of its timestamp. */
const NEWEST: SealPlace = { newest_seconds: 30 };

/**
 * Reads that find rows which were committed late, as while a standby was away: of the last hour,
 * and of the whole trail. `everyMs`: pause between two of them, which take at most one part of the time
 * in `share`.
 */
const LONG = [
  { from: { newest_seconds: 3_600 }, everyMs: 60_000, share: 20 },
  { from: BEGINNING, everyMs: 300_000, share: 100 },
] as const;

export interface SealPasses {
  /** Returns where the next read begins. */
  place(): SealPlace;
  /** Takes where that read ended; returns true when the next one follows without a pause. */
  advance(next: AuditPlace | null): boolean;
}

/**
 * Creates the order of the reads. The newest rows are read first, and again after each page of a
 * long read, so that no row waits for its end. `now`: the time in milliseconds.
 */
export function createPasses(now: () => number = Date.now): SealPasses {
  const due: number[] = LONG.map(() => 0);
  let newest = NEWEST;
  let long: { readonly at: number; readonly place: SealPlace; readonly began: number } | null =
    null;
  let reads: 'newest' | 'long' = 'newest';
  const nextLong = (): typeof long => {
    const at = due.findIndex((time) => time <= now());
    const { from } = LONG[at] ?? {};
    return from === undefined ? null : { at, place: from, began: now() };
  };
  return {
    place: () => (reads === 'long' && long !== null ? long.place : newest),
    advance(next) {
      if (reads === 'newest' || long === null) {
        newest = next ?? NEWEST;
        if (next !== null) return true;
        long ??= nextLong();
        if (long === null) return false;
        reads = 'long';
        return true;
      }
      reads = 'newest';
      if (next !== null) {
        long = { ...long, place: next };
        return true;
      }
      const { at, began } = long;
      const { everyMs = 0, share = 0 } = LONG[at] ?? {};
      due[at] = now() + Math.max(everyMs, (now() - began) * share);
      long = null;
      return false;
    },
  };
}
