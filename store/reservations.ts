/** Reads the stored holds (reserved amounts) for the check that computes them again. */
import type { ReservingMovement } from '../domain/reservations.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

export interface PoolSum {
  readonly venue_key: string;
  readonly account_type: string;
  readonly asset: string;
  /** The amount in the pool's counter. */
  readonly held: string;
  /** The sum of the open holds. */
  readonly open: string;
}

/** Returns the pools whose counter differs from the sum of their open holds, in one statement. */
export async function readUnevenPools(db: Database): Promise<readonly PoolSum[]> {
  return run(
    () => db.sql<PoolSum>`
      SELECT venue_key, account_type, asset, trim_scale(p.held)::text AS held,
        trim_scale(coalesce(r.open, 0))::text AS open
      FROM reservation_pools p
      LEFT JOIN (
        SELECT venue_key, account_type, asset, sum(amount) AS open FROM reservations
          WHERE status = 'held' GROUP BY 1, 2, 3
      ) r USING (venue_key, account_type, asset)
      WHERE p.held <> coalesce(r.open, 0) ORDER BY 1, 2, 3`,
  );
}

/** A capital transfer whose hold does not match its state. */
export interface UnevenTransfer {
  readonly transfer_id: string;
  readonly state: string;
  /** The pool in which the transfer reserves, has used or should reserve an amount. */
  readonly pool: string;
  /** `held`, or `consumed` once the transfer is proven to have sent the amount. */
  readonly status: string;
  readonly held: string;
  readonly expected: string;
}

/**
 * Returns the transfers whose reservations are wrong: an open transfer must hold its amount at its
 * source, a completed one must have recorded it as consumed, and no transfer may reserve more.
 */
export async function readUnevenTransfers(db: Database): Promise<readonly UnevenTransfer[]> {
  return run(
    () => db.sql<UnevenTransfer>`
      SELECT t.transfer_id::text, t.request_state AS state,
        concat_ws('/', p.venue_key, p.account_type, p.asset) AS pool, p.status,
        trim_scale(sum(p.held))::text AS held, trim_scale(sum(p.expected))::text AS expected
      FROM capital_transfers t
      CROSS JOIN LATERAL (
        SELECT t.source_venue AS venue_key, t.source_account_type AS account_type, t.asset,
          CASE t.request_state WHEN 'COMPLETED' THEN 'consumed'
            ELSE 'held' END AS status, 0 AS held,
          CASE t.request_state WHEN 'FAILED' THEN 0 ELSE t.amount END AS expected
        UNION ALL
        SELECT r.venue_key, r.account_type, r.asset, r.status, r.amount, 0 FROM reservations r
        WHERE r.transfer_id = t.transfer_id AND r.status IN ('held', 'consumed')
      ) p
      GROUP BY 1, 2, 3, 4 HAVING sum(p.held) <> sum(p.expected) ORDER BY 1, 3, 4`,
  );
}

/**
 * Returns the next movements, ordered by id, that hold or may have held part of a pool or a budget;
 * one statement for each page.
 */
export async function readReservingMovements(
  db: Database,
  after: string | null,
  limit: number,
): Promise<readonly ReservingMovement[]> {
  return run(
    () => db.sql<ReservingMovement>`
      SELECT m.movement_id, m.request_state, m.approval_status, compiled_plan_of(m.movement_id) AS plan,
        (
          SELECT json_agg(json_build_object('node_key', n.node_key, 'state', n.state,
            'error_code', n.error_code, 'recover_first', n.recover_first OR n.submitted_at IS NOT NULL,
            'amount', trim_scale(n.amount)::text, 'output', n.output,
            'signer_pool', CASE WHEN n.signer_binding IS NOT NULL
              THEN nullif(n.flow -> 'pool', 'null') END))
          FROM movement_nodes n WHERE n.movement_id = m.movement_id
        ) AS nodes,
        coalesce((
          SELECT json_agg(json_build_object('node_key', r.node_key, 'status', r.status,
            'venue_key', r.venue_key,
            'account_type', r.account_type, 'asset', r.asset, 'amount', trim_scale(r.amount)::text))
          FROM reservations r WHERE r.movement_id = m.movement_id
            AND r.status IN ('held', 'consumed')
        ), '[]') AS rows,
        coalesce(m.auto_approve_result ->> 'outcome' = 'approved'
          AND m.auto_approve_result ? 'policy_id', false) AS by_policy,
        coalesce((
          SELECT json_agg(json_build_object('status', b.status,
            'amount', trim_scale(b.amount)::text))
          FROM budget_reservations b WHERE b.movement_id = m.movement_id AND b.status <> 'released'
        ), '[]') AS budget
      FROM movements m
      WHERE (m.pooled OR m.auto_approve_result ? 'policy_id'
          OR EXISTS (SELECT FROM reservations r WHERE r.movement_id = m.movement_id
            AND r.status IN ('held', 'consumed'))
          OR EXISTS (SELECT FROM budget_reservations b WHERE b.movement_id = m.movement_id
            AND b.status <> 'released'))
        AND m.movement_id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
      ORDER BY m.movement_id LIMIT ${limit}::integer`,
  );
}
