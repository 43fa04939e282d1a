/** Top-ups of strategies at the perps venue (prisma/functions/perp-top-up.sql). */
import type { Database } from '../prisma/client.ts';
import { faultDetail, run, sqlState } from './faults.ts';
import { createMovementBy, type CreateOutcome, type NewMovement } from './movements.ts';

/** Raised where a strategy would have more than it may. */
const OVER = 'FM014';

/** Nothing was written: so much is on its way to the strategy already. */
export interface TooMuch {
  readonly created: null;
  readonly under_way: string;
}

/** The top-ups of a strategy that have not ended. */
export async function readOpenTopUps(db: Database, strategyId: string): Promise<readonly string[]> {
  const rows = await run(
    () => db.sql<{ id: string }>`SELECT open_top_ups(${strategyId})::text AS id`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Writes a top-up, if what is on its way to the strategy is with it no more than `room` (null:
 * any). `counted` are those that were open before the venue was asked what the strategy has.
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
