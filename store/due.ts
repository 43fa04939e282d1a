/** Reads what a worker's loops have to handle now, with one query instead of one for each loop. */
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface Due {
  readonly commands: boolean;
  readonly transfers: boolean;
  readonly callbacks: boolean;
  /** Audit rows may lack a seal: the newest row has none, or a late row may still appear. */
  readonly audit: boolean;
  /** Template proposals of agents that have expired. */
  readonly proposals: boolean;
  /** Looks that API processes request from a worker. */
  readonly looks: boolean;
}

/**
 * Reads whether each queue has due work. Only the first entry of an index is read, so the cost does
 * not depend on the number of open rows.
 */
export async function readDue(db: Database): Promise<Due> {
  const [row] = await run(
    () => db.sql<Due>`
      SELECT coalesce((SELECT claimed_until FROM commands WHERE applied_at IS NULL AND wakes >= 0
          ORDER BY claimed_until LIMIT 1) <= clock.at, false) AS commands,
        coalesce((SELECT claimed_until FROM capital_transfers
          WHERE ended_at IS NULL OR seen_version < version
          ORDER BY claimed_until LIMIT 1) <= clock.at, false) AS transfers,
        coalesce((SELECT next_attempt_at FROM callbacks WHERE status = 'pending'
          ORDER BY next_attempt_at LIMIT 1) <= clock.at, false) AS callbacks,
        coalesce((SELECT newest.occurred_at > clock.at - interval '10 seconds'
            OR (SELECT true FROM audit_seals s WHERE s.event_id = newest.event_id) IS NULL
          FROM (SELECT occurred_at, event_id FROM audit_events
            ORDER BY occurred_at DESC, event_id DESC LIMIT 1) newest), false) AS audit,
        coalesce((SELECT expires_at FROM template_proposals WHERE status = 'submitted'
          ORDER BY expires_at LIMIT 1) <= clock.at, false) AS proposals,
        EXISTS (SELECT FROM requested_looks
          WHERE answer IS NULL AND taken_until <= clock.at) AS looks
      FROM (SELECT svc_now() AS at OFFSET 0) clock`,
  );
  if (row === undefined) throw new Error('the query for due work returned no row');
  return row;
}
