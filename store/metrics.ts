/**
 * Reads the database's figures for the metrics page in one statement. It reads stored counts and
 * the ends of indexes, so its cost does not grow with the tables.
 */
import type { CutoverMode } from '../domain/cutover.ts';
import type { LaneView } from './lanes.ts';
import type { Database } from '../prisma/client.ts';
import { STUCK_COUNTS_FOR } from './stuck-runs.ts';
import { CLOCK_WAIT_COUNTS_FOR, CLOCK_WAIT_SHOWN_AFTER } from './transfer-clock-waits.ts';

export interface PoolHold {
  readonly venue_key: string;
  readonly account_type: string;
  readonly asset: string;
  /** A decimal. */
  readonly held: string;
}

/** Age of the newest balances of a venue. */
export interface BalanceAge {
  readonly venue_key: string;
  readonly seconds: number;
}

/** An active agent of the perps venue. */
export interface AgentEnd {
  readonly strategy_id: string;
  readonly agent_name: string;
  /** Seconds until its `valid_until`; 0 after that. */
  readonly seconds_left: number;
}

export interface ExecutorDown {
  readonly executor_key: string;
  readonly down: boolean;
}

export interface QuotaLeft {
  readonly venue_key: string;
  /** An asset, or `USD`. */
  readonly unit: string;
  /** A decimal. */
  readonly left: string;
}

/** Ages are in seconds, by the database's clock; 0 when nothing waits. */
export interface OperationFigures {
  readonly movements: Readonly<Record<string, number>>;
  readonly transfers: Readonly<Record<string, number>>;
  readonly oldest_pending_approval: number;
  readonly callbacks_pending: number;
  readonly callbacks_dead_letter: number;
  readonly oldest_command: number;
  readonly oldest_callback: number;
  /** Of messages of webhooks. */
  readonly oldest_webhook: number;
  /**
   * Time since the last step of the oldest capital transfer with a change that no run has seen. A
   * wake of its run is such a change and no step, so this may be longer than the change waited.
   */
  readonly oldest_transfer: number;
  /** Number of nodes that are not settled and whose last call brought no usable result. */
  readonly unanswered: number;
  readonly oldest_unanswered: number;
  /** Abandoned nodes, at most 500, whose next look is due for more than an hour. */
  readonly late_looks_overdue: number;
  /** Abandoned nodes, at most 500, whose looks have failed for more than an hour. */
  readonly late_looks_failing: number;
  readonly pools: readonly PoolHold[];
  /** What accounts may still withdraw; a figure above the threshold's age is missing. */
  readonly quotas: readonly QuotaLeft[];
  /** Of every venue whose balances were read once, also of one that is no longer bound. */
  readonly balance_ages: readonly BalanceAge[];
  /** Active executors whose health was checked within two hours. */
  readonly executors: readonly ExecutorDown[];
  readonly lanes: readonly LaneView[];
  /** At most 100 active agents of the perps venue, those that end first. */
  readonly perp_agents: readonly AgentEnd[];
  /** Names of agents whose newest wallet has had an error for ten minutes, or ended this week. */
  readonly perp_agents_failing: number;
  /**
   * Movements that need a person, by reason; a missing reason has none. `run_stuck` counts runs of
   * capital transfers too. At most 500 each of every combination of noted reasons, of stuck runs,
   * of UNKNOWN nodes, of late landings and of what ended badly are counted.
   */
  readonly attention: Readonly<Record<string, number>>;
  /** Age of the first audit row without a seal after the newest sealed row. */
  readonly oldest_unsealed: number;
  readonly cutover_mode: CutoverMode;
  /** Whether commits of this role wait for a standby. */
  readonly synchronous: boolean;
  /** Synchronous standbys that stream; null where the role may not see them. */
  readonly standbys: number | null;
  /** Sessions whose commit waits for a standby, as far as the role may see them. */
  readonly commits_waiting: number;
}

/**
 * Reads all figures at one moment. The connection's settings limit what one call may cost.
 * `staleAfterSeconds`: the age from which a venue's quota is unknown. Bounds stand in the statement
 * as numbers: with parameters Postgres would plan it anew each time.
 */
export async function readFigures(
  db: Pick<Database, 'sql'>,
  staleAfterSeconds: number,
): Promise<OperationFigures> {
  const rows = await db.sql<{ figures: OperationFigures }>`
    WITH RECURSIVE counts AS MATERIALIZED (SELECT kept_counts() AS of),
    -- The reasons that no state shows, as a worker noted them last (note_attention): each of their
    -- few combinations once, found behind the one before it by the index movements_noted_reasons.
    combinations (reasons) AS (
      SELECT min(attention_told) FROM movements
      WHERE attention_told IS NOT NULL AND ended_at IS NULL
      UNION ALL
      SELECT (SELECT min(m.attention_told) FROM movements m
        WHERE m.attention_told > c.reasons AND m.ended_at IS NULL)
      FROM combinations c WHERE c.reasons IS NOT NULL),
    -- The limit is of each combination, so that many movements with one reason hide no other.
    noted AS MATERIALIZED (
      SELECT m.request_state, each.reason, count(*) AS n
      FROM combinations c
      CROSS JOIN LATERAL (SELECT request_state FROM movements
        WHERE attention_told = c.reasons AND ended_at IS NULL LIMIT 500) m
      CROSS JOIN LATERAL unnest(string_to_array(c.reasons, '+')) AS each (reason)
      GROUP BY 1, 2),
    attention AS (
      SELECT reason, sum(n) AS n FROM (
        SELECT reason, n FROM noted WHERE reason NOT IN ('run_stuck', 'landed_late')
        UNION ALL
        -- Runs of capital transfers, too, which note nothing at movements.
        SELECT 'run_stuck', count(*) FROM (SELECT FROM stuck_runs
          WHERE last_seen > (SELECT svc_now()) - ${STUCK_COUNTS_FOR}::interval LIMIT 500) s
        UNION ALL
        SELECT 'clock_difference', count(*) FROM (SELECT FROM transfer_clock_waits
          WHERE since <= (SELECT svc_now()) - ${CLOCK_WAIT_SHOWN_AFTER}::interval
            AND last_seen > (SELECT svc_now()) - ${CLOCK_WAIT_COUNTS_FOR}::interval LIMIT 500) w
        UNION ALL
        SELECT 'approval', greatest(0,
          coalesce((counts.of -> 'movement' ->> 'PENDING_APPROVAL')::bigint, 0)
          - (SELECT coalesce(sum(n), 0) FROM noted WHERE request_state = 'PENDING_APPROVAL'))
        FROM counts
        UNION ALL
        SELECT 'manual_gate',
          coalesce((counts.of -> 'movement' ->> 'WAITING_MANUAL_ACTION')::bigint, 0)
        FROM counts
        UNION ALL
        SELECT 'unknown_outcome', count(DISTINCT movement_id)
        FROM (SELECT movement_id FROM movement_nodes WHERE state = 'UNKNOWN'
          ORDER BY movement_id LIMIT 500) n
        UNION ALL
        -- Also where another reason comes first, and of a movement that was completed.
        SELECT 'landed_late', count(DISTINCT m.movement_id)
        FROM (SELECT movement_id FROM movement_nodes
          WHERE landed_late_at IS NOT NULL AND landing_seen_at IS NULL
          ORDER BY movement_id LIMIT 500) n JOIN movements m USING (movement_id)
        WHERE m.ended_at IS NULL OR m.updated_at > (SELECT svc_now()) - interval '7 days'
        UNION ALL
        SELECT 'failed', count(*)
        FROM (SELECT movement_id, request_state, acknowledged_at, attention_told, error_message
          FROM movements WHERE ended_badly_at > (SELECT svc_now()) - interval '7 days'
          ORDER BY ended_badly_at DESC LIMIT 500) m
        -- A failure whose own node was abandoned and has landed late counts as that alone.
        WHERE m.request_state = 'FAILED' AND m.acknowledged_at IS NULL
            AND NOT EXISTS (SELECT FROM movement_nodes n WHERE n.movement_id = m.movement_id
              AND n.landed_late_at IS NOT NULL AND n.landing_seen_at IS NULL AND is_abandoned(n)
              AND m.error_message = 'node ' || n.node_key || ' failed')
          OR m.request_state = 'CANCELLED'
            AND 'failed' = ANY (string_to_array(m.attention_told, '+'))) found
      GROUP BY reason),
    -- The newest of each strategy, by the index perp_agent_wallets_of: former ones are never removed.
    agents AS MATERIALIZED (
      SELECT w.*, w.wallet_id = first_value(w.wallet_id) OVER (PARTITION BY w.agent_name
        ORDER BY w.created_at DESC, w.wallet_id DESC) AS is_newest
      FROM (SELECT strategy_id FROM perp_bindings ORDER BY strategy_id LIMIT 200) b
      CROSS JOIN LATERAL (SELECT wallet_id, strategy_id, agent_name, state, valid_until, last_error,
          created_at, updated_at
        FROM perp_agent_wallets WHERE strategy_id = b.strategy_id
        ORDER BY created_at DESC, wallet_id DESC LIMIT 20) w),
    -- The newest seal may be of a row that was committed late, so the newest row of some is taken.
    sealed AS MATERIALIZED (
      SELECT e.occurred_at, e.event_id
      FROM (SELECT event_id FROM audit_seals ORDER BY position DESC LIMIT 100) s
      JOIN audit_events e USING (event_id)
      UNION ALL
      SELECT '-infinity'::timestamptz, '00000000-0000-0000-0000-000000000000'::uuid
      ORDER BY 1 DESC, 2 DESC LIMIT 1),
    unsealed AS (
      SELECT min(e.occurred_at) AS since FROM sealed s
      CROSS JOIN LATERAL (SELECT occurred_at, event_id FROM audit_events later
        WHERE (later.occurred_at, later.event_id) > (s.occurred_at, s.event_id)
        ORDER BY later.occurred_at, later.event_id LIMIT 100) e
      WHERE NOT EXISTS (SELECT FROM audit_seals x WHERE x.event_id = e.event_id))
    SELECT jsonb_build_object(
      'movements', coalesce(counts.of -> 'movement', '{}'),
      'transfers', coalesce(counts.of -> 'transfer', '{}'),
      'oldest_pending_approval', greatest(0,
        coalesce(extract(epoch
        FROM svc_now() - (SELECT min(created_at) FROM movements
        WHERE request_state = 'PENDING_APPROVAL')), 0)),
      'callbacks_pending', coalesce((counts.of -> 'callback' ->> 'pending')::bigint, 0),
      'callbacks_dead_letter', coalesce((counts.of -> 'callback' ->> 'dead_letter')::bigint, 0),
      'oldest_command', greatest(0,
        coalesce(extract(epoch
        FROM svc_now() - (SELECT min(created_at) FROM commands WHERE applied_at IS NULL)), 0)),
      'oldest_callback', greatest(0,
        coalesce(extract(epoch
        FROM svc_now() - (SELECT min(created_at) FROM callbacks
        WHERE status = 'pending' AND webhook IS NULL)), 0)),
      -- An index has these alone (callbacks_due_of_webhook).
      'oldest_webhook', greatest(0,
        coalesce(extract(epoch
        FROM svc_now() - (SELECT min(created_at) FROM callbacks
        WHERE status = 'pending' AND webhook IS NOT NULL)), 0)),
      -- The version of a transfer grows with each change that its run must see (claimTransfers). When
      -- a wake came is not kept: the relay moves claimed_until on with each try.
      'oldest_transfer', greatest(0,
        coalesce(extract(epoch
        FROM svc_now() - (SELECT min(updated_at) FROM capital_transfers
        WHERE seen_version < version)), 0)),
      -- A cancel and the end of a movement keep when a node fell silent.
      'unanswered', (SELECT count(*) FROM movement_nodes WHERE unanswered_since IS NOT NULL
        AND state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED')),
      'oldest_unanswered', greatest(0,
        coalesce(extract(epoch
        FROM svc_now() - (SELECT min(unanswered_since) FROM movement_nodes
        WHERE unanswered_since IS NOT NULL
          AND state NOT IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'))), 0)),
      -- Each look plans the next one, so a late one means that no process can make it.
      'late_looks_overdue', (SELECT count(*) FROM (SELECT FROM movement_nodes
        WHERE next_late_look < (SELECT svc_now()) - interval '1 hour' LIMIT 500) o),
      'late_looks_failing', (SELECT count(*) FROM (SELECT FROM movement_nodes
        WHERE late_fault_since < (SELECT svc_now()) - interval '1 hour'
          AND next_late_look IS NOT NULL LIMIT 500) f),
      'pools', (SELECT coalesce(
        jsonb_agg(jsonb_build_object('venue_key', venue_key, 'account_type', account_type,
        'asset', asset, 'held', held::text)), '[]') FROM reservation_pools),
      'quotas', (SELECT coalesce(
        jsonb_agg(jsonb_build_object('venue_key', venue_key, 'unit', quota_unit,
        'left', quota_left::text)), '[]') FROM venue_outlooks
        WHERE quota_left IS NOT NULL
          AND read_at >= svc_now() - make_interval(secs => ${staleAfterSeconds}::integer)),
      'balance_ages', (SELECT coalesce(
        jsonb_agg(jsonb_build_object('venue_key', venue_key, 'seconds',
        greatest(0, extract(epoch FROM svc_now() - newest)))), '[]')
        FROM (SELECT venue_key, max(fetched_at) AS newest FROM balance_snapshots
          GROUP BY venue_key) b),
      -- An executor that no worker declares keeps its last health for good.
      'executors', (SELECT coalesce(
        jsonb_agg(jsonb_build_object('executor_key', executor_key,
        'down', health_state = 'down')), '[]')
        FROM executors WHERE status = 'active'
          AND health_checked_at > svc_now() - interval '2 hours'),
      'lanes', lane_views(),
      'perp_agents', (SELECT coalesce(
        jsonb_agg(jsonb_build_object('strategy_id', strategy_id, 'agent_name', agent_name,
        'seconds_left', greatest(0, extract(epoch FROM valid_until - svc_now())))), '[]')
        FROM (SELECT strategy_id, agent_name, valid_until FROM agents WHERE state = 'active'
          ORDER BY valid_until LIMIT 100) a),
      -- Each check may find another error of a pending agent, so its age counts. An agent that is
      -- left to end counts for a week, since no row says that it is not wanted.
      'perp_agents_failing', (SELECT count(*) FROM agents WHERE is_newest AND CASE
        WHEN state IN ('refused', 'expired')
          THEN updated_at > (SELECT svc_now()) - interval '7 days'
        WHEN state = 'pending' THEN last_error IS NOT NULL
          AND created_at < (SELECT svc_now()) - interval '10 minutes'
        WHEN state = 'active' THEN last_error IS NOT NULL
          AND updated_at < (SELECT svc_now()) - interval '10 minutes'
        ELSE false END),
      'attention', (SELECT jsonb_object_agg(reason, n) FROM attention),
      'oldest_unsealed', greatest(0,
        coalesce(extract(epoch FROM svc_now() - (SELECT since FROM unsealed)), 0)),
      'cutover_mode', (SELECT mode FROM cutover),
      'synchronous', current_setting('synchronous_standby_names') <> ''
        AND current_setting('synchronous_commit') NOT IN ('off', 'local'),
      -- Other roles see the standbys without their states.
      'standbys', CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN
        (SELECT count(*) FROM pg_stat_replication
        WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')) END,
      'commits_waiting', (SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep')
    ) AS figures FROM counts`;
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the metrics returned no row');
  return row.figures;
}
