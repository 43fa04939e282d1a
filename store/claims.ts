/** Stores which node was completed with which arrived payment; see domain/claims.ts. */
import type { HeldClaim } from '../domain/claims.ts';
import type { Arrivals } from '../domain/executor.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

interface Owner {
  readonly movement_id: string;
  readonly node_key: string;
}

/** Returns which of these references are claimed, and whether this node claimed them. */
export function readClaimed(
  db: Database,
  { source, references }: { readonly source: string; readonly references: readonly string[] },
  { movement_id, node_key }: Owner,
): ReturnType<Arrivals['claimed']> {
  return run(
    () => db.sql`
      SELECT reference, trim_scale(amount)::text AS amount, until_block::text AS until,
        movement_id = ${movement_id}::uuid AND node_key = ${node_key} AS own
      FROM payment_claims WHERE source = ${source} AND reference IN (
        SELECT jsonb_array_elements_text(${JSON.stringify(references)}::jsonb))`,
  );
}

/** Returns the references that this node has claimed. */
export async function readHeldClaims(
  db: Database,
  { movement_id, node_key }: Owner,
): Promise<readonly HeldClaim[]> {
  const rows = await run(
    () => db.sql<{ claim: HeldClaim }>`
      SELECT jsonb_strip_nulls(jsonb_build_object('source', c.source, 'reference', c.reference,
        'amount', trim_scale(c.amount)::text, 'total', trim_scale(p.amount)::text,
        'until', c.until_block::text)) AS claim
      FROM payment_claims c JOIN payments p USING (source, reference)
      WHERE c.movement_id = ${movement_id}::uuid AND c.node_key = ${node_key}
      ORDER BY c.source, c.reference`,
  );
  return rows.map(({ claim }) => claim);
}

/** Returns the other observe nodes of the same action type that wait for a payment at `place`. */
export function readWaiting(
  db: Database,
  place: string,
  { movement_id, node_key }: Owner,
): ReturnType<Arrivals['waiting']> {
  return run(
    () => db.sql`
      SELECT output -> 'awaits' ->> 'amount' AS amount, output ->> 'baseline_block' AS baseline_block,
        output -> 'awaits' ->> 'tx_hash' AS tx_hash
      FROM movement_nodes
      WHERE state = 'OBSERVING' AND action_type = (SELECT action_type FROM movement_nodes
          WHERE movement_id = ${movement_id}::uuid AND node_key = ${node_key})
        AND output -> 'awaits' ->> 'place' = ${place}
        AND NOT (movement_id = ${movement_id}::uuid AND node_key = ${node_key})`,
  );
}

/**
 * Returns other nodes' burns whose mint looks like this node's mint. Such a burn may have been
 * sent, or was abandoned or seen to land late within a week: its mint comes after it. It has the
 * same message or, while no message is recorded, the same amount and payee.
 */
export function readOpenBurns(
  db: Database,
  burn: { readonly message: string; readonly amount: string; readonly mint_recipient: string },
  { movement_id, node_key }: Owner,
): Promise<readonly Owner[]> {
  return run(
    () => db.sql<Owner>`
      SELECT n.movement_id, n.node_key
      FROM (
        -- Each part has its own index.
        SELECT * FROM movement_nodes WHERE claims_when = 'output.attested_message'
          AND (state IN ('SUBMITTING', 'SUBMITTED', 'OBSERVING', 'UNKNOWN') OR recover_first)
        UNION ALL
        SELECT * FROM movement_nodes WHERE claims_when = 'output.attested_message'
          AND state = 'FAILED' AND error_code = 'ABANDONED'
          AND greatest(completed_at, landed_late_at) > (SELECT svc_now()) - interval '7 days'
      ) n JOIN movement_plans p USING (movement_id)
      WHERE NOT (n.movement_id = ${movement_id}::uuid AND n.node_key = ${node_key})
        AND CASE WHEN n.output ? 'message' THEN lower(n.output ->> 'message') = lower(${burn.message})
          ELSE coalesce(n.amount = ${burn.amount}::numeric, true)
            AND right(lower(node_plan(n.own_plan, p.input_params) #>> '{config,mint_recipient}'), 40)
              = right(lower(${burn.mint_recipient}), 40) END
      ORDER BY n.movement_id, n.node_key`,
  );
}
