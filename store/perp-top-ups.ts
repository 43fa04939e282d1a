/** Stores top-ups of strategies at the perps venue (prisma/functions/perp-top-up.sql). */
import type { Database } from '../prisma/client.ts';
import { faultDetail, run, sqlState } from './faults.ts';
import { createMovementBy, type CreateOutcome, type NewMovement } from './movements.ts';

/** SQLSTATE raised when a strategy would exceed its limit. */
const OVER = 'FM014';

/** Nothing was written. `under_way` is the amount that is already on its way to the strategy. */
export interface TooMuch {
  readonly created: null;
  readonly under_way: string;
}

/** Returns the top-ups of a strategy that have not ended. */
export async function readOpenTopUps(db: Database, strategyId: string): Promise<readonly string[]> {
  const rows = await run(
    () => db.sql<{ id: string }>`SELECT open_top_ups(${strategyId})::text AS id`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Writes a top-up if its amount plus the amounts on their way to the strategy is at most `room`
 * (null: no limit). `counted`: the top-ups that were already open when the strategy's balance was
 * read.
 */
export async function createTopUp(
  db: Database,
  movement: NewMovement,
  within: {
    readonly strategy_id: string;
    readonly room: string | null;
    readonly counted: readonly string[];
  },
): Promise<CreateOutcome | TooMuch> {
  const { strategy_id, room, counted } = within;
  try {
    return await createMovementBy(
      db,
      movement,
      (doc) => db.sql`
        SELECT create_top_up(${doc}::jsonb, ${strategy_id}, ${room}::numeric,
          ${JSON.stringify(counted)}::jsonb) AS answer`,
    );
  } catch (error) {
    if (sqlState(error) !== OVER) throw error;
    return { created: null, under_way: faultDetail(error) ?? '0' };
  }
}
