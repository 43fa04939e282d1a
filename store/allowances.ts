/** Reads token allowances that a movement has set (prisma/functions/allowances.sql). */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/** An allowance of which a part is still unused, judged by the stored sends. */
export interface OpenAllowance {
  /** The node that set the allowance. */
  readonly node_key: string;
  readonly chain_id: number;
  /** The account whose tokens may be pulled. */
  readonly owner: string;
  readonly signer_key: string;
  readonly token_address: string;
  readonly spender: string;
  readonly asset: string;
  /** The part that the movement's nodes have not pulled. */
  readonly amount: string;
}

/** Returns the open allowances of an ended movement; empty while the movement runs. */
export function readOpenAllowances(
  db: Database,
  movementId: string,
): Promise<readonly OpenAllowance[]> {
  return run(
    () => db.sql<OpenAllowance>`
      SELECT a.node_key, a.chain_id::double precision AS chain_id, a.owner, a.signer_key,
        a.token_address, a.spender, a.asset, trim_scale(a.left_over)::text AS amount
      FROM movements m, allowances_of(m.movement_id) a
      WHERE m.movement_id = ${movementId}::uuid AND m.ended_at IS NOT NULL
        AND a.left_over > 0 AND a.later IS NULL
      ORDER BY a.node_key`,
  );
}

/** Returns, by node, the unused part of each allowance that a later node reset. */
export async function readResetAllowances(
  db: Database,
  movementId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await run(
    () => db.sql<{ node_key: string; amount: string }>`
      SELECT node_key, trim_scale(left_over)::text AS amount
      FROM allowances_of(${movementId}::uuid) WHERE left_over > 0 AND later = 'reset'`,
  );
  return new Map(rows.map(({ node_key, amount }) => [node_key, amount]));
}

/** Returns whether a node of the movement is setting an allowance now. */
export async function isAllowing(db: Database, movementId: string): Promise<boolean> {
  const rows = await run(
    () => db.sql<{ allowing: boolean }>`
      SELECT EXISTS (SELECT FROM movement_nodes WHERE movement_id = ${movementId}::uuid
        AND pays = 'spender'
        AND state IN ('READY', 'SUBMITTING', 'SUBMITTED', 'OBSERVING')) AS allowing`,
  );
  return rows[0]?.allowing ?? false;
}
