/**
 * Holds or refuses single writes of the service, by triggers on its own database. A write that
 * waits here is a statement of which the worker has not had the answer: paused or killed meanwhile,
 * it has passed its fence (or stored its bytes) and has not done what comes next, which no clock
 * could aim at.
 */
import pg from 'pg';
import { eventually } from './eventually.ts';

/** The table a write goes to, and what of the old and the new row tells it from others. */
const POINTS = {
  /** A preflight passed. */
  passed: ['movement_nodes', 'NOT OLD.preflight_passed AND NEW.preflight_passed'],
  /** What will be sent is stored. */
  prepared: ['movement_nodes', 'OLD.prepared_action IS NULL AND NEW.prepared_action IS NOT NULL'],
  /** A node becomes SUBMITTING. */
  fence: ['movement_nodes', "OLD.state = 'READY' AND NEW.state = 'SUBMITTING'"],
  /** The bytes of a transaction are stored. */
  signature: ['evm_transactions', 'OLD.raw_tx IS NULL AND NEW.raw_tx IS NOT NULL'],
  /** What came of a send, from its own answer or from a recovery. */
  answer: [
    'movement_nodes',
    "OLD.state = 'SUBMITTING' AND NEW.state IN ('SUBMITTED', 'COMPLETED', 'FAILED')",
  ],
  /** A first look that found nothing yet. */
  look: ['movement_nodes', "OLD.state = 'SUBMITTED' AND NEW.state = 'OBSERVING'"],
  /** What was sent has come to its end. */
  end: [
    'movement_nodes',
    "OLD.state IN ('SUBMITTED', 'OBSERVING') AND NEW.state IN ('COMPLETED', 'FAILED')",
  ],
} as const;
export type HeldPoint = keyof typeof POINTS;

export interface HeldWrites {
  /** From now on this write of the movement waits for `release`. */
  hold(point: HeldPoint, movementId: string): Promise<void>;
  /** From now on this write of the movement fails, until `release`. */
  refuse(point: HeldPoint, movementId: string): Promise<void>;
  /** Waits until so many writes wait. */
  waiting(count: number): Promise<void>;
  /**
   * Lets every waiting write through, also one whose client is paused or gone, and holds none from
   * now on.
   */
  release(): Promise<void>;
  close(): Promise<void>;
}

const LOCK = 7_411_902;

const SETUP = `
  CREATE TABLE test_held_writes (movement_id uuid, point text, refused boolean);
  GRANT SELECT ON test_held_writes TO PUBLIC;
  CREATE FUNCTION test_hold_write() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE held test_held_writes;
  BEGIN
    SELECT * INTO held FROM test_held_writes WHERE movement_id = NEW.movement_id
      AND point = TG_ARGV[0];
    IF held.refused THEN RAISE EXCEPTION 'refused by a test'; END IF;
    IF held.refused IS NOT NULL THEN PERFORM pg_advisory_xact_lock_shared(${LOCK}); END IF;
    RETURN NEW;
  END $$;
  ${Object.entries(POINTS)
    .map(
      ([point, [table, when]]) =>
        `CREATE TRIGGER test_hold_${point} BEFORE UPDATE ON ${table} FOR EACH ROW
          WHEN (${when}) EXECUTE FUNCTION test_hold_write('${point}');`,
    )
    .join('\n')}`;

/** Puts the triggers in place; they do nothing until `hold` or `refuse`. */
export async function holdWrites(databaseUrl: string): Promise<HeldWrites> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  await client.query(SETUP);
  // Taken once, however many ask at the same time: each time more would need a release of its own.
  let lock: Promise<unknown> | null = null;
  const add = async (point: HeldPoint, movementId: string, refused: boolean): Promise<void> => {
    await (lock ??= client.query('SELECT pg_advisory_lock($1)', [LOCK]));
    await client.query('INSERT INTO test_held_writes VALUES ($1, $2, $3)', [
      movementId,
      point,
      refused,
    ]);
  };
  return {
    hold: (point, movementId) => add(point, movementId, false),
    refuse: (point, movementId) => add(point, movementId, true),
    waiting: async (count) => {
      await eventually(
        async () => {
          const { rows } = await client.query(
            `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
            [LOCK],
          );
          return rows.length === count ? true : null;
        },
        { what: () => `${count} writes to wait` },
      );
    },
    release: async () => {
      await client.query('DELETE FROM test_held_writes');
      if (lock !== null) await client.query('SELECT pg_advisory_unlock($1)', [LOCK]);
      lock = null;
    },
    close: () => client.end(),
  };
}
