/** What Postgres says about itself while movements run. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const PAUSE_MS = 50;

/** Sessions that wait for a lock at a time. */
export interface Sample {
  /** Milliseconds since any fixed time. */
  readonly atMs: number;
  readonly waiting: number;
  /** Locks that are not granted, also those waited for so shortly that no wait shows. */
  readonly ungranted: number;
}

export interface LockWaits {
  /** Milliseconds that sessions waited for locks, summed over them. */
  readonly waitMs: number;
  readonly mostUngranted: number;
}

/**
 * Returns the waits of samples in order of time. Each sample counts for the time since the one
 * before it; the first for none.
 */
export function lockWaits(samples: readonly Sample[]): LockWaits {
  let waitMs = 0;
  let mostUngranted = 0;
  for (const [index, { atMs, waiting, ungranted }] of samples.entries()) {
    const before = samples[index - 1]?.atMs ?? atMs;
    waitMs += waiting * (atMs - before);
    mostUngranted = Math.max(mostUngranted, ungranted);
  }
  return { waitMs, mostUngranted };
}

const LOCKS = `
  SELECT (SELECT count(*) FROM pg_stat_activity
      WHERE datname = $1 AND wait_event_type = 'Lock')::int AS waiting,
    (SELECT count(*) FROM pg_locks WHERE NOT granted)::int AS ungranted`;

/**
 * Starts to look at locks 20 times a second. Its connection is to another database, so that its
 * looks are not among the commits of this one. The function that is returned ends that, and rejects
 * if a look failed.
 */
export async function startSampler(databaseUrl: string): Promise<() => Promise<LockWaits>> {
  const elsewhere = new URL(databaseUrl);
  const database = elsewhere.pathname.slice(1);
  elsewhere.pathname = '/postgres';
  const client = new pg.Client({ connectionString: elsewhere.href });
  // The query that runs meanwhile rejects with the same error.
  client.on('error', () => undefined);
  await client.connect();
  const samples: Sample[] = [];
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      const { rows } = await client.query<{ waiting: number; ungranted: number }>(LOCKS, [
        database,
      ]);
      const [row] = rows;
      if (row !== undefined) samples.push({ atMs: performance.now(), ...row });
      await sleep(PAUSE_MS);
    }
  };
  const looking = loop();
  looking.catch(() => undefined); // awaited when it is stopped
  return async () => {
    stopped = true;
    await looking.finally(() => client.end());
    return lockWaits(samples);
  };
}

/** Counters of Postgres that only grow. */
export interface Counters {
  /** Bytes of the log (WAL). */
  readonly wal: number;
  /** Members of multixacts: rows that several transactions hold a lock on at once. */
  readonly members: number;
  readonly commits: number;
}

/**
 * Reads the counters. The members of multixacts are known as of the last checkpoint, so it makes
 * one. Commits are known once their session was idle for ten seconds, or has ended.
 */
export async function readCounters(pool: pg.Pool): Promise<Counters> {
  const wal = await one<{ wal: number }>(
    pool,
    "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 AS wal",
  );
  await pool.query('CHECKPOINT');
  const rest = await one<{ members: number; commits: number }>(
    pool,
    `SELECT (SELECT next_multi_offset::text::float8 FROM pg_control_checkpoint()) AS members,
      (SELECT xact_commit::float8 FROM pg_stat_database WHERE datname = current_database())
        AS commits`,
  );
  return { ...wal, ...rest };
}

async function one<R extends pg.QueryResultRow>(pool: pg.Pool, text: string): Promise<R> {
  const { rows } = await pool.query<R>(text);
  const [row] = rows;
  if (row === undefined) throw new Error(`Postgres returned no row for ${text}`);
  return row;
}

/** Returns the milliseconds of each movement from its approval to its end. */
export async function latencies(pool: pg.Pool, ids: readonly string[]): Promise<readonly number[]> {
  const { rows } = await pool.query<{ ms: number }>(
    `SELECT (extract(epoch FROM ended_at - approved_at) * 1000)::float8 AS ms
      FROM movements WHERE movement_id = ANY ($1::uuid[])`,
    [ids],
  );
  return rows.map(({ ms }) => ms);
}

/** Returns the connections of the service that are open now. */
export async function connections(pool: pg.Pool): Promise<number> {
  const { count } = await one<{ count: number }>(
    pool,
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE application_name LIKE 'fund-movement-orchestrator%'`,
  );
  return count;
}

/** Returns the milliseconds of statements that do nothing, over a new connection. */
export async function roundTrips(databaseUrl: string): Promise<readonly number[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const times: number[] = [];
    for (let count = 0; count < 30; count += 1) {
      const started = performance.now();
      await client.query('SELECT 1');
      times.push(performance.now() - started);
    }
    return times;
  } finally {
    await client.end();
  }
}
