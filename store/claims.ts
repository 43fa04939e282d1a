/** Which node was completed with what has arrived; see domain/claims.ts. */
import type { Claim, ClaimHolder } from '../domain/claims.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/**
 * Who else holds one of these claims, or null. It is asked before a completion, which finds out
 * again: so that who cannot have it is told why instead of trying anew.
 */
export async function readClaimHolder(
  db: Database,
  claims: readonly Claim[],
  { movement_id, node_key }: { readonly movement_id: string; readonly node_key: string },
): Promise<ClaimHolder | null> {
  const rows = await run(
    () => db.sql<ClaimHolder>`
      SELECT c.source, c.reference, c.movement_id, c.node_key
      FROM jsonb_to_recordset(${JSON.stringify(claims)}::jsonb)
        AS x (source text, reference text, amount numeric)
      JOIN payments p USING (source, reference)
      JOIN payment_claims c USING (source, reference)
      WHERE p.claimed + x.amount > p.amount
        AND NOT EXISTS (SELECT FROM payment_claims own
          WHERE own.source = p.source AND own.reference = p.reference
            AND own.movement_id = ${movement_id}::uuid AND own.node_key = ${node_key})
      ORDER BY c.created_at, c.movement_id, c.node_key LIMIT 1`,
  );
  return rows[0] ?? null;
}
