/** Holds as they are written, for the check that recomputes them. */
import type { CompiledPlan } from '../domain/plan/types.ts';
import type { NodeState } from '../domain/states/node.ts';
import type { ReservationStatus } from '../domain/states/movement.ts';
import type { Hold } from '../domain/transition.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface PoolSum {
  readonly venue_key: string;
  readonly account_type: string;
  readonly asset: string;
  /** What the pool's counter says. */
  readonly held: string;
  /** The sum of the holds that are open. */
  readonly open: string;
}

/** The pools whose counter is not the sum of their open holds, in one statement. */
export async function readUnevenPools(db: Database): Promise<readonly PoolSum[]> {
  return run(
    () => db.sql<PoolSum>`
      SELECT venue_key, account_type, asset, trim_scale(p.held)::text AS held, trim_scale(coalesce(r.open, 0))::text AS open
      FROM reservation_pools p
      LEFT JOIN (
        SELECT venue_key, account_type, asset, sum(amount) AS open FROM reservations WHERE status = 'held' GROUP BY 1, 2, 3
      ) r USING (venue_key, account_type, asset)
      WHERE p.held <> coalesce(r.open, 0) ORDER BY 1, 2, 3`,
  );
}

/** A capital transfer whose open hold is not what its state asks for. */
export interface UnevenTransfer {
  readonly transfer_id: string;
  readonly state: string;
  /** The pool that it holds, or should. */
  readonly pool: string;
  readonly held: string;
  readonly expected: string;
}

/** The transfers that hold something else than their amount at their source while they are open, and nothing after. */
export async function readUnevenTransfers(db: Database): Promise<readonly UnevenTransfer[]> {
  return run(
    () => db.sql<UnevenTransfer>`
      SELECT t.transfer_id::text, t.request_state AS state, concat_ws('/', p.venue_key, p.account_type, p.asset) AS pool,
        trim_scale(sum(p.held))::text AS held, trim_scale(sum(p.expected))::text AS expected
      FROM capital_transfers t
      CROSS JOIN LATERAL (
        SELECT t.source_venue AS venue_key, t.source_account_type AS account_type, t.asset, 0 AS held,
          CASE WHEN t.ended_at IS NULL THEN t.amount ELSE 0 END AS expected
        UNION ALL
        SELECT r.venue_key, r.account_type, r.asset, r.amount, 0 FROM reservations r WHERE r.transfer_id = t.transfer_id AND r.status = 'held'
      ) p
      GROUP BY 1, 2, 3 HAVING sum(p.held) <> sum(p.expected) ORDER BY 1, 3`,
  );
}

/** A movement with open holds, or one that says it has them. */
export interface HoldingMovement {
  readonly movement_id: string;
  readonly reservation_status: ReservationStatus;
  readonly plan: CompiledPlan;
  /** As they were when the holds were taken: COMPLETED only if it was so then. */
  readonly nodes: readonly { readonly node_key: string; readonly state: NodeState }[];
  readonly holds: readonly Hold[];
}

/** The next movements by id, each page in one statement. */
export async function readHoldingMovements(db: Database, after: string | null, limit: number): Promise<readonly HoldingMovement[]> {
  return run(
    () => db.sql<HoldingMovement>`
      SELECT m.movement_id, m.reservation_status, m.compiled_plan AS plan,
        (
          SELECT json_agg(json_build_object('node_key', n.node_key,
            'state', CASE WHEN n.state = 'COMPLETED' AND n.completed_at < taken.at THEN 'COMPLETED' ELSE 'BLOCKED' END))
          FROM movement_nodes n WHERE n.movement_id = m.movement_id
        ) AS nodes,
        coalesce((
          SELECT json_agg(json_build_object('venue_key', r.venue_key, 'account_type', r.account_type, 'asset', r.asset,
            'amount', trim_scale(r.amount)::text))
          FROM reservations r WHERE r.movement_id = m.movement_id AND r.status = 'held'
        ), '[]') AS holds
      FROM movements m
      CROSS JOIN LATERAL (
        -- Without any hold, the moment at which there would have been one.
        SELECT coalesce(
          (SELECT min(r.created_at) FROM reservations r WHERE r.movement_id = m.movement_id AND r.status = 'held'),
          (SELECT max(t.occurred_at) FROM timeline_events t
           WHERE t.movement_id = m.movement_id AND t.event_type IN ('request_approved', 'request_retried'))
        ) AS at
      ) taken
      WHERE (m.reservation_status = 'held' OR EXISTS (
          SELECT FROM reservations r WHERE r.movement_id = m.movement_id AND r.status = 'held'))
        AND m.movement_id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
      ORDER BY m.movement_id LIMIT ${limit}::integer`,
  );
}
