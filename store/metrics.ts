/**
 * Reads the database's figures for the metrics page in one statement. It reads stored counts and
 * the ends of indexes, so its cost does not grow with the tables.
 */
import type { LaneView } from './lanes.ts';
import type { Database } from '../prisma/client.ts';

export interface PoolHold {
  readonly venue_key: string;
  readonly account_type: string;
  readonly asset: string;
  /** A decimal. */
  readonly held: string;
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
  /** Number of nodes whose last look got no answer. */
  readonly unanswered: number;
  readonly oldest_unanswered: number;
  readonly pools: readonly PoolHold[];
  /** What accounts may still withdraw; a figure above the threshold's age is missing. */
  readonly quotas: readonly QuotaLeft[];
  readonly lanes: readonly LaneView[];
}

/**
 * Reads all figures at one moment. The connection's settings limit what one call may cost.
 * `staleAfterSeconds`: the age from which a venue's quota is unknown.
 */
export async function readFigures(
  db: Pick<Database, 'sql'>,
  staleAfterSeconds: number,
): Promise<OperationFigures> {
  const rows = await db.sql<{ figures: OperationFigures }>`
    WITH counts AS MATERIALIZED (SELECT kept_counts() AS of)
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
      'unanswered', (SELECT count(*) FROM movement_nodes WHERE unanswered_since IS NOT NULL),
      'oldest_unanswered', greatest(0,
        coalesce(extract(epoch
        FROM svc_now() - (SELECT min(unanswered_since) FROM movement_nodes
        WHERE unanswered_since IS NOT NULL)), 0)),
      'pools', (SELECT coalesce(
        jsonb_agg(jsonb_build_object('venue_key', venue_key, 'account_type', account_type,
        'asset', asset, 'held', held::text)), '[]') FROM reservation_pools),
      'quotas', (SELECT coalesce(
        jsonb_agg(jsonb_build_object('venue_key', venue_key, 'unit', quota_unit,
        'left', quota_left::text)), '[]') FROM venue_outlooks
        WHERE quota_left IS NOT NULL
          AND read_at >= svc_now() - make_interval(secs => ${staleAfterSeconds}::integer)),
      'lanes', lane_views()
    ) AS figures FROM counts`;
  const [row] = rows;
  if (row === undefined) throw new Error('the query for the metrics returned no row');
  return row.figures;
}
