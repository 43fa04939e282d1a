/** Which movements need a person, and why: what `attention_of` (prisma/functions) says of them. */
import {
  TOLD_REASONS,
  type AttentionReason,
  type ToldAttention,
} from '../domain/attention-reasons.ts';
import type { MovementState } from '../domain/states/movement.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import type { PagePosition } from './paging.ts';

/** Which movements are asked for. */
export interface MovementScope {
  readonly state?: MovementState | undefined;
  readonly strategy_id?: string | undefined;
  readonly template_key?: string | undefined;
  /** What it is for, or can move. */
  readonly asset?: string | undefined;
  /** Only movements of templates in this namespace. */
  readonly namespace?: string | undefined;
}

export interface MovementPage {
  readonly limit: number;
  readonly after: PagePosition | null;
}

/** The movements of the page that need a person, newest first, and why. */
export async function listNeeding(
  db: Database,
  filter: MovementScope,
  { limit, after }: MovementPage,
): Promise<ReadonlyMap<string, AttentionReason>> {
  const { state = null, strategy_id = null, template_key = null, asset = null } = filter;
  const prefix = filter.namespace === undefined ? null : `${filter.namespace}/`;
  const rows = await run(
    () => db.sql<{ movement_id: string; reason: AttentionReason }>`
      SELECT m.movement_id, a.facts ->> 'reason' AS reason
      FROM movements m CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts) a
      -- What attention_of would refuse at a glance, in the words of two indexes.
      WHERE (m.ended_at IS NULL OR m.ended_at IS NOT NULL
          AND m.request_state IN ('FAILED', 'CANCELLED')
          AND m.updated_at > (SELECT svc_now()) - interval '7 days')
        AND (${state}::text IS NULL OR m.request_state = ${state})
        AND (${strategy_id}::text IS NULL OR m.strategy_id = ${strategy_id})
        AND (${template_key}::text IS NULL OR m.template_key = ${template_key})
        AND (${prefix}::text IS NULL OR starts_with(m.template_key, ${prefix}))
        AND (${asset}::text IS NULL OR m.asset = ${asset}
          OR m.outflow @> jsonb_build_array(jsonb_build_object('asset', ${asset}::text)))
        AND (${after?.created_at ?? null}::timestamptz IS NULL OR (m.created_at, m.movement_id)
          < (${after?.created_at ?? null}::timestamptz, ${after?.id ?? null}::uuid))
        AND a.facts IS NOT NULL
      ORDER BY m.created_at DESC, m.movement_id DESC LIMIT ${limit}::integer`,
  );
  return new Map(rows.map(({ movement_id, reason }) => [movement_id, reason]));
}

/** Why each of these movements needs a person; those that need none are left out. */
export async function readReasons(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AttentionReason>> {
  if (ids.length === 0) return new Map();
  const rows = await run(
    () => db.sql<{ movement_id: string; reason: AttentionReason }>`
      SELECT m.movement_id, a.facts ->> 'reason' AS reason
      FROM movements m CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts) a
      WHERE m.movement_id = ANY (${`{${ids.join(',')}}`}::uuid[]) AND a.facts IS NOT NULL`,
  );
  return new Map(rows.map(({ movement_id, reason }) => [movement_id, reason]));
}

/**
 * Open movements of which more is to be said than their state says, the oldest `limit`: what their
 * runs are told.
 */
export async function readTold(
  db: Database,
  limit: number,
): Promise<ReadonlyMap<string, NonNullable<ToldAttention>>> {
  const rows = await run(
    () => db.sql<{ movement_id: string; reason: AttentionReason; node_key: string | null }>`
      SELECT m.movement_id, a.facts ->> 'reason' AS reason, a.facts ->> 'node_key' AS node_key
      FROM movements m CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts) a
      WHERE m.ended_at IS NULL
        -- No approval is said to be over soon earlier than this, and those that wait may be many.
        AND (m.request_state <> 'PENDING_APPROVAL'
          OR m.expires_at <= (SELECT svc_now()) + interval '15 minutes')
        AND a.facts ->> 'reason' = ANY (${`{${TOLD_REASONS.join(',')}}`}::text[])
      ORDER BY m.created_at, m.movement_id LIMIT ${limit}::integer`,
  );
  return new Map(
    rows.map(({ movement_id, reason, node_key }) => [movement_id, { reason, node_key }]),
  );
}
