/**
 * Abandoned nodes, whose sends are looked for until they land: see
 * docs/decisions/0141-an-outcome-that-stays-open.md.
 */
import type { JsonObject } from '../domain/json.ts';
import type { NodeRef } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import type { PhaseRow } from './phases.ts';

/** Longest pause in seconds after a look that failed: within an hour of failures there are two. */
const REPEAT_SECONDS = 1_800;

/**
 * Takes the abandoned nodes whose next look is due; only one caller gets a node. The pause before
 * the look after this one grows with the age: a twenty-fourth of it, and at least `pauseSeconds`. A
 * node with an open nonce is left to its nonce lane, which uses the nonce up.
 */
export async function takeLateLooks(
  db: Database,
  {
    called,
    followed,
    pauseSeconds,
    limit,
  }: {
    /** The executors whose nodes are taken. */
    readonly called: readonly string[];
    /** The executors of which only those nodes are taken for which something was signed. */
    readonly followed: readonly string[];
    readonly pauseSeconds: number;
    readonly limit: number;
  },
): Promise<readonly NodeRef[]> {
  return run(
    () => db.sql<NodeRef>`
      WITH clock AS (SELECT svc_now() AS at), due AS (
        SELECT n.movement_id, n.node_key FROM movement_nodes n, clock
        WHERE n.next_late_look <= clock.at
          AND (${JSON.stringify(called)}::jsonb ? (n.executor_binding ->> 'executor_key')
            OR n.sign_request IS NOT NULL
              AND ${JSON.stringify(followed)}::jsonb ? (n.executor_binding ->> 'executor_key'))
          AND NOT EXISTS (SELECT FROM evm_transactions t
            WHERE t.movement_id = n.movement_id AND t.node_key = n.node_key
              AND t.attempt = n.attempt AND t.raw_tx IS NOT NULL AND t.replaces IS NULL
              AND t.released_at IS NULL AND t.final_at IS NULL)
        ORDER BY n.next_late_look LIMIT ${limit}::integer FOR UPDATE OF n SKIP LOCKED
      )
      UPDATE movement_nodes n SET next_late_look = clock.at + greatest(
        make_interval(secs => ${pauseSeconds}::double precision), (clock.at - n.completed_at) / 24)
      FROM clock, due WHERE n.movement_id = due.movement_id AND n.node_key = due.node_key
      RETURNING n.movement_id::text, n.node_key`,
  );
}

/**
 * What a look at an abandoned node found. `unsettled`: no answer, or a landing that is not proven
 * yet. `open`: the executor cannot tell, or the venue entry has changed, and a look soon would find
 * no more.
 */
export type LateLookOutcome = 'unsettled' | 'open' | 'answered';

/**
 * Notes whether the look at an abandoned node failed (every outcome but `answered`). Only an
 * `unsettled` one is repeated within half an hour, or after `pauseSeconds` if that is longer.
 * Writes nothing once the node has landed or is at another attempt or epoch.
 */
export async function noteLateLook(
  db: Database,
  node: Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt' | 'epoch'>,
  outcome: LateLookOutcome,
  pauseSeconds: number,
): Promise<void> {
  const { movement_id, node_key, attempt, epoch } = node;
  const seconds = Math.max(REPEAT_SECONDS, pauseSeconds);
  const failed = outcome !== 'answered';
  await run(
    () => db.sql`
      UPDATE movement_nodes SET
        late_fault_since = CASE WHEN ${failed}::boolean
          THEN coalesce(late_fault_since, svc_now()) END,
        next_late_look = CASE WHEN ${outcome === 'unsettled'}::boolean
          THEN least(next_late_look,
            svc_now() + make_interval(secs => ${seconds}::double precision))
          ELSE next_late_look END
      WHERE movement_id = ${movement_id}::uuid AND node_key = ${node_key}
        AND attempt = ${attempt}::integer AND submit_epoch = ${epoch}::integer
        AND next_late_look IS NOT NULL AND (${failed}::boolean OR late_fault_since IS NOT NULL)`,
  );
}

/** Returns whether a completion of the node with this output needs a claim. */
export async function needsClaim(
  db: Database,
  { movement_id, node_key }: NodeRef,
  output: JsonObject | null,
): Promise<boolean> {
  const rows = await run(
    () => db.sql<{ needed: boolean }>`
      SELECT needs_claim(claims_when, ${JSON.stringify(output)}::jsonb) AS needed
      FROM movement_nodes
      WHERE movement_id = ${movement_id}::uuid AND node_key = ${node_key}`,
  );
  return rows[0]?.needed ?? true;
}
