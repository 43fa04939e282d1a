/** Reads that concurrent callers share; creates of movements do the same (`shared-creates.ts`). */
import { gather, type GatherOptions } from '../platform/gather.ts';
import type { Database } from '../prisma/client.ts';

/** Maximum number of statements at the same time, and of callers of one statement. */
const READS = { calls: 2, most: 32 };

/**
 * Returns a call for one caller, made of `serve`, which serves many and returns the results in
 * order. The statement starts after the last call that it serves, so no caller of a read gets older
 * data.
 */
export function shared<Ask, Answer>(
  serve: (db: Database, asks: readonly Ask[]) => Promise<readonly Answer[]>,
  limits: Pick<GatherOptions<Ask, Answer>, 'calls' | 'most'> = READS,
): (db: Database, ask: Ask) => Promise<Answer> {
  const readers = new WeakMap<Database, (ask: Ask) => Promise<Answer>>();
  return (db, ask) => {
    let read = readers.get(db);
    if (read === undefined) {
      read = gather({ ...limits, serve: (asks) => serve(db, asks) });
      readers.set(db, read);
    }
    return read(ask);
  };
}
