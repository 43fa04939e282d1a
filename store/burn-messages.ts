/** Which message of a bridge was which burn's, so that one nonce answers for one burn. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface BurnMessageId {
  readonly source_domain: number;
  /** 0x and 64 hex digits. */
  readonly nonce: string;
}

/** Whether the message is this node's burn, from now on and for good; asking again is the same. */
export async function claimBurnMessage(
  db: Database,
  { source_domain, nonce }: BurnMessageId,
  { movement_id, node_key }: { readonly movement_id: string; readonly node_key: string },
): Promise<boolean> {
  const name = nonce.toLowerCase();
  await run(
    () => db.sql`
      INSERT INTO burn_messages (source_domain, nonce, movement_id, node_key, created_at)
      VALUES (${source_domain}::bigint, ${name}, ${movement_id}::uuid, ${node_key}, svc_now())
      ON CONFLICT DO NOTHING`,
  );
  const rows = await run(
    () => db.sql<{ ours: boolean }>`
      SELECT movement_id = ${movement_id}::uuid AND node_key = ${node_key} AS ours
      FROM burn_messages WHERE source_domain = ${source_domain}::bigint AND nonce = ${name}`,
  );
  return rows[0]?.ours === true;
}
