/** Reads the stops of a send, and records accepted bytes (prisma/functions/stops.sql). */
import type { Stopped } from '../domain/send/stops.ts';
import type { Transition } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/** Returns the stops (reasons to hold a send back) that apply now to what the node has signed. */
export async function readStops(
  db: Database,
  node: { readonly movement_id: string; readonly node_key: string },
  required: NonNullable<Transition['require']>,
): Promise<readonly Stopped[]> {
  const rows = await run(
    () => db.sql<{ stops: readonly Stopped[] }>`
      SELECT send_stops(${node.movement_id}::uuid, ${node.node_key},
        ${JSON.stringify(required)}::jsonb) AS stops`,
  );
  if (rows[0] === undefined) throw new Error('the query for the stops of a node returned no row');
  return rows[0].stops;
}

/** Records that an endpoint or the chain accepted the attempt's bytes; keeps the first time. */
export async function noteAccepted(
  db: Database,
  of: { readonly movement_id: string; readonly node_key: string; readonly attempt: number },
  tx_hash: string,
): Promise<void> {
  await run(
    () => db.sql`
      SELECT note_accepted(${of.movement_id}::uuid, ${of.node_key}, ${of.attempt}::integer,
        ${tx_hash})`,
  );
}
