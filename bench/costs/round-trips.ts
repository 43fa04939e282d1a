/** Counts every statement that goes to Postgres, by the activity that sends it. */
import type { MovementActivities } from '../../domain/messages.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { onEveryStatement } from './statements.ts';

export interface ActivityCount {
  calls: number;
  /** Each waits once for the database's answer; BEGIN and COMMIT count like everything else. */
  round_trips: number;
}

export interface RoundTrips {
  readonly db: Database;
  readonly byActivity: Map<string, ActivityCount>;
  /**
   * The same activities, seen by the count. Right only while one of them runs at a time, as in a
   * chain.
   */
  counted(activities: MovementActivities): MovementActivities;
}

/** A client over connections that count. */
export function countRoundTrips(databaseUrl: string): RoundTrips {
  const byActivity = new Map<string, ActivityCount>();
  let running: ActivityCount | null = null;
  const onConnect = onEveryStatement(() => {
    if (running !== null) running.round_trips += 1;
  });
  const countOf = (name: string): ActivityCount => {
    const count = byActivity.get(name) ?? { calls: 0, round_trips: 0 };
    byActivity.set(name, count);
    return count;
  };
  return {
    db: connectDatabase({ url: databaseUrl, poolSize: 4, onConnect }),
    byActivity,
    counted: (activities) =>
      new Proxy(activities, {
        get: (target, key) => {
          const activity: unknown = Reflect.get(target, key);
          if (typeof activity !== 'function') return activity;
          return async (...args: unknown[]): Promise<unknown> => {
            const count = countOf(String(key));
            if (running !== null)
              throw new Error('two activities at once: their statements cannot be attributed');
            running = count;
            count.calls += 1;
            try {
              return await Reflect.apply(activity, target, args);
            } finally {
              running = null;
            }
          };
        },
      }),
  };
}
