/** Which audit rows the sealer reads next. */
import { BEGINNING, type AuditPlace, type SealPlace } from '../../store/audit-seals.ts';

/** The usual read: nearly every row is committed within this time of its timestamp. */
const NEWEST: SealPlace = { newest_seconds: 30 };

/**
 * Reads that find rows which were committed late, as while a standby was away: of the last hour,
 * and of the whole trail. `everyMs`: pause between two of them, which take at most one part of the
 * time in `share`.
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
 * long read, so that no row waits for its end; the last hour comes before the whole trail. `now`:
 * milliseconds of a clock that never goes back.
 */
export function createPasses(now: () => number = () => performance.now()): SealPasses {
  const longs = LONG.map((terms) => ({
    ...terms,
    place: terms.from as SealPlace,
    due: 0,
    spent: 0,
  }));
  let newest = NEWEST;
  let long: (typeof longs)[number] | undefined;
  let began = 0;
  return {
    place() {
      began = now();
      return (long ?? { place: newest }).place;
    },
    advance(next) {
      if (long === undefined) {
        newest = next ?? NEWEST;
        if (next === null) long = longs.find(({ due }) => due <= now());
        return next !== null || long !== undefined;
      }
      const read = long;
      long = undefined;
      // Only what the reads took: an outage between them delays no further one.
      read.spent += now() - began;
      read.place = next ?? read.from;
      if (next !== null) return true;
      read.due = now() + Math.max(read.everyMs, read.spent * read.share);
      read.spent = 0;
      return false;
    },
  };
}
