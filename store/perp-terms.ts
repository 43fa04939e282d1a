/** What the database knows of the perps venue for a node (prisma/functions/perp-fence.sql). */
import type { PerpFacts } from '../domain/perps/ready.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import type { PerpAction } from './perp-actions.ts';

export interface PerpTermsRow extends PerpFacts {
  /** The most that the master's account may hold; null: any amount. */
  readonly account_bound: string | null;
  /** The attempt's own, once it has a nonce. */
  readonly action: PerpAction | null;
}

/**
 * `deposit` is the amount of a deposit, of which another one may be under way; null for other
 * nodes. Null for a movement that does not exist.
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
