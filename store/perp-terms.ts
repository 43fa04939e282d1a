/** Reads the perps venue's facts for a node (prisma/functions/perp-fence.sql). */
import type { PerpFacts } from '../domain/perps/ready.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import type { PerpAction } from './perp-actions.ts';

export interface PerpTermsRow extends PerpFacts {
  /** The most that the master's account may hold; null: no limit. */
  readonly account_bound: string | null;
  /** The action of this attempt; null until the attempt has a nonce. */
  readonly action: PerpAction | null;
}

/**
 * Returns the facts; null for a movement that does not exist. `deposit` is the amount of a deposit,
 * to find another open deposit of that amount; null for other nodes.
 */
export async function readPerpTerms(
  db: Database,
  of: {
    readonly movement_id: string;
    readonly node_key: string;
    readonly attempt: number;
    readonly deposit: string | null;
  },
): Promise<PerpTermsRow | null> {
  const rows = await run(
    () => db.sql<{ terms: PerpTermsRow | null }>`
      SELECT perp_terms(${of.movement_id}::uuid, ${of.node_key}, ${of.attempt}::integer,
        ${of.deposit}::numeric) AS terms`,
  );
  return rows[0]?.terms ?? null;
}
