/** Stores signed authorizations: which attempt claims each nonce, and which nonces were used. */
import type { AuthorizationId } from '../domain/signing.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

interface Owner {
  readonly movement_id: string;
  readonly node_key: string;
  readonly attempt: number;
}

/**
 * Claims the authorization nonce for this attempt for ever; false when another attempt has claimed
 * it.
 */
export async function claimAuthorization(
  db: Database,
  { chain_id, token, address, nonce }: AuthorizationId,
  { movement_id, node_key, attempt }: Owner,
): Promise<boolean> {
  const key = [token.toLowerCase(), address.toLowerCase(), nonce.toLowerCase()] as const;
  await run(
    () => db.sql`
      INSERT INTO authorizations (chain_id, token, address, nonce, movement_id, node_key, attempt,
        created_at)
      VALUES (${chain_id}::bigint, ${key[0]}, ${key[1]}, ${key[2]}, ${movement_id}::uuid,
        ${node_key}, ${attempt}::integer, svc_now())
      ON CONFLICT DO NOTHING`,
  );
  const rows = await run(
    () => db.sql<{ ours: boolean }>`
      SELECT movement_id = ${movement_id}::uuid AND node_key = ${node_key}
        AND attempt = ${attempt}::integer AS ours
      FROM authorizations WHERE chain_id = ${chain_id}::bigint AND token = ${key[0]}
        AND address = ${key[1]} AND nonce = ${key[2]}`,
  );
  return rows[0]?.ours === true;
}

/** Records that a transaction in a final block used the authorization signed for the attempt. */
export async function noteAuthorizationMined(
  db: Database,
  { movement_id, node_key, attempt }: Owner,
  hash: string,
): Promise<void> {
  await run(
    () => db.sql`
      UPDATE authorizations SET mined_hash = ${hash}
      WHERE movement_id = ${movement_id}::uuid AND node_key = ${node_key}
        AND attempt = ${attempt}::integer AND mined_hash IS DISTINCT FROM ${hash}`,
  );
}
