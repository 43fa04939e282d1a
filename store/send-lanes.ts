/** Reads what is known of the other sends in an attempt's send lane. */
import type { SendLane } from '../domain/actions/terms.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/** Returns the lane of the attempt; null if the attempt was not sent in one. */
export async function readSendLane(
  db: Database,
  of: { readonly movement_id: string; readonly node_key: string; readonly attempt: number },
): Promise<SendLane | null> {
  const rows = await run(
    () => db.sql<{ lane: SendLane | null }>`
      SELECT send_lane_terms(${of.movement_id}::uuid, ${of.node_key}, ${of.attempt}::integer)
        AS lane`,
  );
  return rows[0]?.lane ?? null;
}
