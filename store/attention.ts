/**
 * Reads which movements need the operator and why, using `attention_of`
 * (prisma/functions/attention.sql).
 */
import type { AttentionFacts } from '../domain/attention.ts';
import {
  SIGNALLED_REASONS,
  type AttentionReason,
  type SignalledAttention,
} from '../domain/attention-reasons.ts';
import type { EndedBadly } from '../domain/messages.ts';
import type { MovementState } from '../domain/states/movement.ts';
import { CALLBACK_EVENTS } from '../domain/events.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { agentOf } from './namespaces.ts';
import { beforePosition, type PagePosition } from './paging.ts';
import { STUCK_COUNTS_FOR } from './stuck-runs.ts';

/** The filter of a list of movements. */
export interface MovementScope {
  readonly state?: MovementState | undefined;
  readonly strategy_id?: string | undefined;
  readonly template_key?: string | undefined;
  /** An asset that the movement moves or can move. */
  readonly asset?: string | undefined;
  /** The reference that the create request set. */
  readonly external_reference?: string | undefined;
  /** Metadata pairs that the create request set; all must match. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Only movements of templates in this namespace. */
  readonly namespace?: string | undefined;
}

export interface MovementPage {
  readonly limit: number;
  readonly after: PagePosition | null;
}

/** Returns the metadata pairs of a filter as JSON text; null when the filter has none. */
export function jsonOfPairs({ metadata = {} }: MovementScope): string | null {
  return Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata);
}

/** Returns the movements of the page that need the operator, newest first, each with its reason. */
export async function listNeeding(
  db: Database,
  filter: MovementScope,
  { limit, after }: MovementPage,
): Promise<ReadonlyMap<string, AttentionReason>> {
  const { state = null, strategy_id = null, template_key = null, asset = null } = filter;
  const { external_reference: reference = null } = filter;
  const pairs = jsonOfPairs(filter);
  const agent = agentOf(filter.namespace);
  const { at, id } = beforePosition(after);
  // Open and ended movements are read separately, each in page order until the page is full. Two
  // indexes exclude movements for which attention_of would return null. OFFSET makes Postgres sort
  // the ended ones before it calls attention_of. Completed ones need the operator only for a late
  // landing, and a third index has the few of those.
  const rows = await run(
    () => db.sqlPlanned<{ movement_id: string; reason: AttentionReason }>`
      WITH open AS (
        SELECT m.movement_id, m.created_at, a.facts ->> 'reason' AS reason
        FROM movements m CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts OFFSET 0) a
        WHERE m.ended_at IS NULL
          AND (m.created_at, m.movement_id) < (${at}::timestamptz, ${id}::uuid)
          AND (${state}::text IS NULL OR m.request_state = ${state})
          AND (${strategy_id}::text IS NULL OR m.strategy_id = ${strategy_id})
          AND (${template_key}::text IS NULL OR m.template_key = ${template_key})
          AND (${agent}::text IS NULL OR m.agent = ${agent})
          AND (${reference}::text IS NULL OR m.external_reference = ${reference})
          AND (${pairs}::jsonb IS NULL OR m.metadata @> ${pairs}::jsonb)
          AND (${asset}::text IS NULL OR m.asset = ${asset}
            OR m.outflow @> jsonb_build_array(jsonb_build_object('asset', ${asset}::text)))
          AND a.facts IS NOT NULL
        ORDER BY m.created_at DESC, m.movement_id DESC LIMIT ${limit}::integer
      ), ended AS (
        SELECT x.movement_id, x.created_at, a.facts ->> 'reason' AS reason
        FROM (SELECT m.movement_id, m.created_at FROM movements m
          WHERE m.ended_badly_at > (SELECT svc_now()) - interval '7 days'
            -- Adding a zero interval keeps Postgres from using the index on created_at: the index
            -- on ended_badly_at reads fewer rows.
            AND (m.created_at + interval '0', m.movement_id) < (${at}::timestamptz, ${id}::uuid)
            AND (${state}::text IS NULL OR m.request_state = ${state})
            AND (${strategy_id}::text IS NULL OR m.strategy_id = ${strategy_id})
            AND (${template_key}::text IS NULL OR m.template_key = ${template_key})
            AND (${agent}::text IS NULL OR m.agent = ${agent})
            AND (${reference}::text IS NULL OR m.external_reference = ${reference})
            AND (${pairs}::jsonb IS NULL OR m.metadata @> ${pairs}::jsonb)
            AND (${asset}::text IS NULL OR m.asset = ${asset}
              OR m.outflow @> jsonb_build_array(jsonb_build_object('asset', ${asset}::text)))
          ORDER BY m.created_at DESC, m.movement_id DESC OFFSET 0) x
        CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts FROM movements m
          WHERE m.movement_id = x.movement_id OFFSET 0) a
        WHERE a.facts IS NOT NULL
        ORDER BY x.created_at DESC, x.movement_id DESC LIMIT ${limit}::integer
      ), completed AS (
        SELECT m.movement_id, m.created_at, a.facts ->> 'reason' AS reason
        FROM (SELECT DISTINCT movement_id FROM movement_nodes
          WHERE landed_late_at IS NOT NULL AND landing_seen_at IS NULL) x
        JOIN movements m USING (movement_id)
        CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts OFFSET 0) a
        WHERE m.request_state = 'COMPLETED'
          AND (m.created_at, m.movement_id) < (${at}::timestamptz, ${id}::uuid)
          AND (${state}::text IS NULL OR m.request_state = ${state})
          AND (${strategy_id}::text IS NULL OR m.strategy_id = ${strategy_id})
          AND (${template_key}::text IS NULL OR m.template_key = ${template_key})
          AND (${agent}::text IS NULL OR m.agent = ${agent})
          AND (${reference}::text IS NULL OR m.external_reference = ${reference})
          AND (${pairs}::jsonb IS NULL OR m.metadata @> ${pairs}::jsonb)
          AND (${asset}::text IS NULL OR m.asset = ${asset}
            OR m.outflow @> jsonb_build_array(jsonb_build_object('asset', ${asset}::text)))
          AND a.facts IS NOT NULL
      )
      SELECT movement_id, reason
      FROM (SELECT * FROM open UNION ALL SELECT * FROM ended
        UNION ALL SELECT * FROM completed) needing
      ORDER BY created_at DESC, movement_id DESC LIMIT ${limit}::integer`,
  );
  return new Map(rows.map(({ movement_id, reason }) => [movement_id, reason]));
}

/** Returns why a movement needs the operator; null if it needs none, or if there is none such. */
export async function readAttention(
  db: Database,
  movementId: string,
): Promise<AttentionFacts | null> {
  const rows = await run(
    () => db.sql<{ facts: AttentionFacts | null }>`
      SELECT attention_of(m, svc_now()) AS facts FROM movements m
      WHERE m.movement_id = ${movementId}::uuid`,
  );
  return rows[0]?.facts ?? null;
}

/** Returns why these movements need the operator; leaves out movements that need none. */
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

/** A reason that a run has to show. `stuck`: the run cannot go on, so no signal changes it. */
export type ReasonForRun = NonNullable<SignalledAttention> & { readonly stuck: boolean };

/**
 * Returns the oldest `limit` open movements with a reason that their state does not show; the
 * reasons are signalled to their runs.
 */
export async function readReasonsForRuns(
  db: Database,
  limit: number,
): Promise<ReadonlyMap<string, ReasonForRun>> {
  const rows = await run(
    () => db.sql<ReasonForRun & { readonly movement_id: string }>`
      SELECT movement_id, facts ->> 'reason' AS reason, facts ->> 'node_key' AS node_key,
        EXISTS (SELECT FROM stuck_runs s WHERE s.entity_id = movement_id
          AND s.last_seen > (SELECT svc_now()) - ${STUCK_COUNTS_FOR}::interval) AS stuck FROM (
        SELECT m.movement_id, m.created_at, a.facts
        FROM movements m CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts) a
        WHERE m.ended_at IS NULL AND m.request_state <> 'PENDING_APPROVAL'
        UNION ALL
        -- Approvals that expire later have no reason that is signalled. They may be many, so they
        -- are not read.
        SELECT m.movement_id, m.created_at, a.facts
        FROM movements m CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts) a
        WHERE m.request_state = 'PENDING_APPROVAL'
          AND m.expires_at <= (SELECT svc_now()) + interval '15 minutes') looked
      WHERE facts ->> 'reason' = ANY (${`{${SIGNALLED_REASONS.join(',')}}`}::text[])
      ORDER BY created_at, movement_id LIMIT ${limit}::integer`,
  );
  return new Map(
    rows.map(({ movement_id, reason, node_key, stuck }) => [
      movement_id,
      { reason, node_key, stuck },
    ]),
  );
}

/**
 * Returns up to `limit` ended movements that still need the operator, the longest ended first;
 * completed ones, which need the operator only for a late landing, come last.
 */
export async function readEndedBadly(
  db: Database,
  limit: number,
): Promise<ReadonlyMap<string, EndedBadly>> {
  const rows = await run(
    () => db.sql<EndedBadly>`
      (SELECT m.movement_id, m.request_state AS state, m.strategy_id, m.asset,
        trim_scale(m.amount)::text AS amount, m.template_key,
        a.facts ->> 'reason' AS reason, a.facts ->> 'node_key' AS node_key
      FROM movements m CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts OFFSET 0) a
      WHERE m.ended_badly_at > (SELECT svc_now()) - interval '7 days' AND a.facts IS NOT NULL
      ORDER BY m.ended_badly_at LIMIT ${limit}::integer)
      UNION ALL
      (SELECT m.movement_id, m.request_state, m.strategy_id, m.asset,
        trim_scale(m.amount)::text, m.template_key,
        a.facts ->> 'reason', a.facts ->> 'node_key'
      FROM (SELECT DISTINCT movement_id FROM movement_nodes
        WHERE landed_late_at IS NOT NULL AND landing_seen_at IS NULL) x
      JOIN movements m USING (movement_id)
      CROSS JOIN LATERAL (SELECT attention_of(m, svc_now()) AS facts OFFSET 0) a
      WHERE m.request_state = 'COMPLETED' AND a.facts IS NOT NULL)
      LIMIT ${limit}::integer`,
  );
  return new Map(rows.map((row) => [row.movement_id, row]));
}

/** Maximum number of changes that one call writes; the next call writes the rest. */
const MOST_NOTED = 200;

/**
 * Writes each change of a movement's reason that its state does not show, with the callback
 * `request_attention`. `needed` and `ended`: the results of {@link readReasonsForRuns} and
 * {@link readEndedBadly} read just before; the database decides again what to write. Several
 * processes may run this at the same time.
 */
export async function noteAttention(
  db: Database,
  needed: ReadonlyMap<string, NonNullable<SignalledAttention>>,
  ended: ReadonlyMap<string, Pick<EndedBadly, 'state' | 'reason'>>,
): Promise<void> {
  const known = JSON.stringify(
    [...needed].map(([movement_id, { reason }]) => ({ movement_id, reason })),
  );
  // Only these have a reason that their state does not show: a CANCELLED movement keeps its state
  // when its nodes fail.
  const ids = [...ended].flatMap(([id, { state, reason }]) =>
    state === 'CANCELLED' || reason !== 'failed' ? [id] : [],
  );
  const signalled = `{${SIGNALLED_REASONS.join(',')}}`;
  const rows = await run(
    () => db.sql<{ movement_id: string }>`
      WITH known AS (
        SELECT * FROM jsonb_to_recordset(${known}::jsonb) AS x (movement_id uuid, reason text))
      SELECT m.movement_id FROM known x
      JOIN movements m USING (movement_id)
      -- Only of these there may be another reason to note; late landings are read below.
      WHERE unseen_landing(m) IS NULL AND m.attention_told IS DISTINCT FROM CASE
        WHEN x.reason = 'approval_compromised' OR m.request_state = 'CANCELLED'
        THEN reasons_to_tell(m, attention_of(m, svc_now()), ${signalled}::text[]) ELSE x.reason END
      UNION
      SELECT m.movement_id FROM movements m
      WHERE m.attention_told IS NOT NULL AND m.ended_at IS NULL
        AND NOT EXISTS (SELECT FROM known x WHERE x.movement_id = m.movement_id)
        AND unseen_landing(m) IS NULL
      UNION
      SELECT m.movement_id FROM movement_nodes n JOIN movements m USING (movement_id)
      WHERE n.landed_late_at IS NOT NULL AND n.landing_seen_at IS NULL AND m.attention_told
        IS DISTINCT FROM reasons_to_tell(m, attention_of(m, svc_now()), ${signalled}::text[])
      UNION
      SELECT m.movement_id FROM movements m
      WHERE m.request_state = 'CANCELLED' AND m.attention_told IS NULL AND m.ended_at IS NULL
        AND attention_of(m, svc_now()) IS NOT NULL
      UNION
      SELECT m.movement_id FROM movements m
      WHERE m.movement_id = ANY (${`{${ids.join(',')}}`}::uuid[]) AND m.attention_told
        IS DISTINCT FROM reasons_to_tell(m, attention_of(m, svc_now()), ${signalled}::text[])
      LIMIT ${MOST_NOTED}::integer`,
  );
  for (const { movement_id } of rows)
    await run(
      () => db.sql`
        SELECT note_attention(${movement_id}::uuid, ${newId()}::uuid,
          ${signalled}::text[], ${JSON.stringify(CALLBACK_EVENTS)}::jsonb)`,
    );
}
