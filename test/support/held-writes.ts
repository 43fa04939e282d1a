/**
 * Holds or refuses single writes of the service, by triggers on its own database. A write that waits here
 * is a statement of which the worker has not had the answer: paused or killed meanwhile, it has passed its
 * fence (or stored its bytes) and has not done what comes next, which no clock could aim at.
 */
import pg from 'pg';
import { eventually } from './own-stack.ts';

/** `fence`: a node becomes SUBMITTING. `signature`: the bytes of a transaction are stored. */
export type HeldPoint = 'fence' | 'signature';

export interface HeldWrites {
  /** From now on this write of the movement waits for `release`. */
  hold(point: HeldPoint, movementId: string): Promise<void>;
  /** From now on this write of the movement fails, until `release`. */
  refuse(point: HeldPoint, movementId: string): Promise<void>;
  /** Waits until so many writes wait. */
  waiting(count: number): Promise<void>;
  /** Lets every write through that waits, also one whose client is paused or gone, and holds none any more. */
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
    SELECT * INTO held FROM test_held_writes WHERE movement_id = NEW.movement_id AND point = TG_ARGV[0];
    IF held.refused THEN RAISE EXCEPTION 'refused by a test'; END IF;
    IF held.refused IS NOT NULL THEN PERFORM pg_advisory_xact_lock_shared(${LOCK}); END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER test_hold_fence BEFORE UPDATE ON movement_nodes FOR EACH ROW
    WHEN (OLD.state = 'READY' AND NEW.state = 'SUBMITTING') EXECUTE FUNCTION test_hold_write('fence');
  CREATE TRIGGER test_hold_signature BEFORE UPDATE ON evm_transactions FOR EACH ROW
    WHEN (OLD.raw_tx IS NULL AND NEW.raw_tx IS NOT NULL) EXECUTE FUNCTION test_hold_write('signature');`;

/** Puts the triggers in place; they do nothing until `hold` or `refuse`. */
export async function holdWrites(databaseUrl: string): Promise<HeldWrites> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  await client.query(SETUP);
  let locked = false;
  const add = async (point: HeldPoint, movementId: string, refused: boolean): Promise<void> => {
    if (!locked) await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    locked = true;
    await client.query('INSERT INTO test_held_writes VALUES ($1, $2, $3)', [movementId, point, refused]);
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
      if (locked) await client.query('SELECT pg_advisory_unlock($1)', [LOCK]);
      locked = false;
    },
    close: () => client.end(),
  };
}
