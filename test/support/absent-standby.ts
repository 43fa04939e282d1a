/** A database that waits, with every commit, for a synchronous standby that does not exist. */
import pg from 'pg';
import { eventually } from './eventually.ts';

export interface AbsentStandby {
  /** From here on every commit waits. */
  goAway(): Promise<void>;
  /** What waited is committed. Does nothing where none is away. */
  comeBack(): Promise<void>;
  /** Waits until one more commit waits than `before`. */
  waiting(before?: number): Promise<number>;
  /** Ends the sessions that wait: what they committed is there, and no one has heard of it. */
  endWaiting(): Promise<void>;
  close(): Promise<void>;
}

export async function absentStandby(databaseUrl: string): Promise<AbsentStandby> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  const count = async (): Promise<number> =>
    (await client.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).rows.length;
  const endWaiting = async (): Promise<void> => {
    const { rows } = await client.query<{ pid: number }>(
      "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    const pids = rows.map(({ pid }) => pid);
    // Others may wait by then: whoever looks for what these have left behind.
    const left = (): Promise<pg.QueryResult> =>
      client.query('SELECT FROM pg_stat_activity WHERE pid = ANY ($1::integer[])', [pids]);
    await eventually(async () => ((await left()).rows.length === 0 ? true : null));
  };
  const set = async (statement: string): Promise<void> => {
    await client.query(statement);
    await client.query('SELECT pg_reload_conf()');
  };
  return {
    goAway: async () => {
      await set("ALTER SYSTEM SET synchronous_standby_names = 'absent'");
      // The server gets to it a moment later, so it is written until a commit waits.
      const probe = new pg.Client({ connectionString: databaseUrl });
      probe.on('error', () => undefined);
      await probe.connect();
      const probing = (async () => {
        for (;;) await probe.query('CREATE TEMPORARY TABLE probe (); DROP TABLE probe');
      })().catch(() => undefined);
      await eventually(async () => ((await count()) > 0 ? true : null));
      await endWaiting();
      await probing;
      await probe.end().catch(() => undefined);
    },
    comeBack: async () => {
      await set('ALTER SYSTEM RESET synchronous_standby_names');
      await eventually(async () => ((await count()) === 0 ? true : null));
    },
    waiting: (before = 0) =>
      eventually(async () => {
        const now = await count();
        return now > before ? now : null;
      }),
    endWaiting,
    close: () => client.end(),
  };
}
