/** Reads movements for callers. */
import type { AttentionFacts } from '../domain/attention.ts';
import type { AttentionReason } from '../domain/attention-reasons.ts';
import type { JsonObject } from '../domain/json.ts';
import type { NodeKind } from '../domain/graph/types.ts';
import type { ConditionResults } from '../domain/messages.ts';
import type { OutflowEntry, CompiledPlan } from '../domain/plan/types.ts';
import type { Actor } from '../domain/roles.ts';
import type {
  ApprovalStatus,
  MovementState,
  ReservationStatus,
} from '../domain/states/movement.ts';
import type { NodeState } from '../domain/states/node.ts';
import type { Prisma } from '../prisma/generated/client.ts';
import {
  jsonOfPairs,
  listNeeding,
  readReasons,
  type MovementPage,
  type MovementScope,
} from './attention.ts';
import { beforePosition, olderThan } from './paging.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';
import { iso, object, stored } from './json.ts';
import { agentOf } from './namespaces.ts';

export interface MovementSummary {
  readonly movement_id: string;
  readonly template_key: string;
  readonly template_version: number;
  readonly strategy_id: string | null;
  readonly request_state: MovementState;
  readonly approval_status: ApprovalStatus;
  readonly reservation_status: ReservationStatus;
  readonly intent: JsonObject;
  /** The most that the plan can move, by asset. */
  readonly outflow: readonly OutflowEntry[];
  readonly current_frontier: readonly string[];
  readonly external_reference: string | null;
  readonly metadata: JsonObject;
  readonly error_code: string | null;
  /** Why the movement needs the operator; null if it needs no operator. */
  readonly attention_reason: AttentionReason | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly expires_at: string;
}

export interface NodeRecord {
  readonly node_key: string;
  readonly node_kind: NodeKind;
  readonly action_type: string;
  readonly state: NodeState;
  readonly attempt: number;
  /** Whether the present attempt completed after an operator's resume. */
  readonly resumed: boolean;
  /** Whether a stop ended the send or a person abandoned it; no failure edge fires. */
  readonly ended_by_stop: boolean;
  readonly executor_binding: JsonObject;
  readonly signer_binding: JsonObject | null;
  /** The signer binding in the plan. */
  readonly original_signer_binding: JsonObject | null;
  /** The config in the plan. */
  readonly config: JsonObject;
  readonly asset: string;
  readonly prepared_action: JsonObject | null;
  /** The node's amount; before it is resolved, the most that a drawing node can move. */
  readonly amount: string | null;
  readonly external_ref: string | null;
  readonly output: JsonObject | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly started_at: string | null;
  readonly updated_at: string;
  readonly completed_at: string | null;
}

export interface ArtifactRecord {
  readonly artifact_id: string;
  readonly node_key: string;
  readonly attempt: number;
  readonly kind: string;
  readonly data: JsonObject;
  readonly created_at: string;
}

export interface MovementDetail extends MovementSummary {
  readonly template_id: string;
  readonly compiled_plan_hash: string;
  readonly input_params: JsonObject;
  readonly labels: JsonObject;
  readonly created_by: JsonObject;
  readonly approver_id: string | null;
  readonly approved_by: string | null;
  readonly auto_approve_result: JsonObject | null;
  readonly error_message: string | null;
  readonly run_id: string | null;
  readonly nodes: readonly NodeRecord[];
  readonly artifacts: readonly ArtifactRecord[];
  readonly callbacks: {
    readonly pending: number;
    readonly delivered: number;
    readonly dead_letter: number;
  };
  /** Stored results of conditions, by the edge's position in the plan. */
  readonly edge_conditions: ConditionResults;
  /** Whether the plan has an on_cancel edge. */
  readonly cancellable: boolean;
  readonly attention: AttentionFacts | null;
}

const SUMMARY = {
  movement_id: true,
  template_key: true,
  template_version: true,
  strategy_id: true,
  request_state: true,
  approval_status: true,
  reservation_status: true,
  intent: true,
  outflow: true,
  current_frontier: true,
  external_reference: true,
  metadata: true,
  error_code: true,
  created_at: true,
  updated_at: true,
  expires_at: true,
} as const satisfies Prisma.MovementSelect;

type SummaryRow = Prisma.MovementGetPayload<{ select: typeof SUMMARY }>;

function toSummary(
  row: SummaryRow,
  reasons: ReadonlyMap<string, AttentionReason>,
): MovementSummary {
  return {
    movement_id: row.movement_id,
    template_key: row.template_key,
    template_version: row.template_version,
    strategy_id: row.strategy_id,
    request_state: row.request_state as MovementState,
    approval_status: row.approval_status as ApprovalStatus,
    reservation_status: row.reservation_status as ReservationStatus,
    intent: object(row.intent),
    outflow: stored<readonly OutflowEntry[]>(row.outflow),
    current_frontier: row.current_frontier,
    external_reference: row.external_reference,
    metadata: object(row.metadata),
    error_code: row.error_code,
    attention_reason: reasons.get(row.movement_id) ?? null,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    expires_at: iso(row.expires_at),
  };
}

export interface MovementFilter extends MovementScope {
  /** Only movements that need the operator. */
  readonly needs_attention?: true | undefined;
}

/** Returns up to `limit` movements after `page.after`, newest first. */
export async function listMovements(
  db: Database,
  filter: MovementFilter,
  page: MovementPage,
): Promise<readonly MovementSummary[]> {
  const needing = filter.needs_attention === true ? await listNeeding(db, filter, page) : undefined;
  const agent = agentOf(filter.namespace);
  // Movements chosen by a separate statement are read without filters: a row filtered out here
  // would make the page short, and a short page looks like the last one.
  const chosen = needing === undefined ? await chosenOf(db, filter, page) : [...needing.keys()];
  const rows = await run(() =>
    db.movement.findMany({
      select: SUMMARY,
      where:
        chosen !== undefined
          ? { movement_id: { in: [...chosen] } }
          : {
              ...(filter.state === undefined ? {} : { request_state: filter.state }),
              ...(filter.strategy_id === undefined ? {} : { strategy_id: filter.strategy_id }),
              ...(filter.template_key === undefined ? {} : { template_key: filter.template_key }),
              ...(filter.external_reference === undefined
                ? {}
                : { external_reference: filter.external_reference }),
              ...(agent === null ? {} : { agent }),
              AND: [
                page.after === null ? {} : olderThan<'movement_id'>(page.after, 'movement_id'),
                ...Object.entries(filter.metadata ?? {}).map(([key, value]) => ({
                  metadata: { path: [key], equals: value },
                })),
              ],
            },
      orderBy: [{ created_at: 'desc' }, { movement_id: 'desc' }],
      take: page.limit,
    }),
  );
  const ids = rows.map(({ movement_id }) => movement_id);
  const reasons = needing ?? (await readReasons(db, ids));
  return rows.map((row) => toSummary(row, reasons));
}

/** Returns the page's movements if a separate statement finds them; undefined if none is needed. */
async function chosenOf(
  db: Database,
  filter: MovementScope,
  page: MovementPage,
): Promise<readonly string[] | undefined> {
  const pairs = jsonOfPairs(filter);
  // Few movements share one external reference, so a filter by reference needs no separate
  // statement.
  if (pairs !== null && filter.external_reference === undefined)
    return listOfPairs(db, { ...filter, pairs }, page);
  return filter.asset === undefined
    ? undefined
    : listOfAsset(db, { ...filter, asset: filter.asset }, page);
}

/**
 * Returns the page's movements that have all metadata pairs. Reads the movements of the rarest
 * pair, in the order of its index; each pair is counted only up to a thousand rows.
 */
async function listOfPairs(
  db: Database,
  filter: MovementScope & { readonly pairs: string },
  { limit, after }: MovementPage,
): Promise<readonly string[]> {
  const { pairs, state = null, strategy_id = null, template_key = null, asset = null } = filter;
  const agent = agentOf(filter.namespace);
  const { at, id } = beforePosition(after);
  const rows = await run(
    () => db.sqlPlanned<{ movement_id: string }>`
      WITH rarest AS MATERIALIZED (
        SELECT p.key, p.value FROM jsonb_each_text(${pairs}::jsonb) p
        ORDER BY (SELECT count(*) FROM (SELECT FROM movement_metadata x
          WHERE x.key = p.key AND x.value = p.value LIMIT 1000) counted), p.key LIMIT 1)
      SELECT d.movement_id FROM movement_metadata d
        -- OFFSET 0 makes Postgres look up each movement by its id, so the order of the index is
        -- kept.
        CROSS JOIN LATERAL (SELECT FROM movements m WHERE m.movement_id = d.movement_id
          AND m.metadata @> ${pairs}::jsonb
          AND (${state}::text IS NULL OR m.request_state = ${state})
          AND (${strategy_id}::text IS NULL OR m.strategy_id = ${strategy_id})
          AND (${template_key}::text IS NULL OR m.template_key = ${template_key})
          AND (${agent}::text IS NULL OR m.agent = ${agent})
          AND (${asset}::text IS NULL OR m.asset = ${asset}
            OR m.outflow @> jsonb_build_array(jsonb_build_object('asset', ${asset}::text)))
          OFFSET 0) m
      WHERE d.key = (SELECT key FROM rarest) AND d.value = (SELECT value FROM rarest)
        AND (d.created_at, d.movement_id) < (${at}::timestamptz, ${id}::uuid)
      ORDER BY d.created_at DESC, d.movement_id DESC LIMIT ${limit}::integer`,
  );
  return rows.map(({ movement_id }) => movement_id);
}

/**
 * Returns the page's movements whose own asset is this one, or whose plans can also move it. Reads
 * both kinds in the order of their indexes and keeps the newest.
 */
async function listOfAsset(
  db: Database,
  filter: MovementScope & { readonly asset: string },
  { limit, after }: MovementPage,
): Promise<readonly string[]> {
  const { asset, state = null, strategy_id = null, template_key = null } = filter;
  const { external_reference: reference = null } = filter;
  const pairs = jsonOfPairs(filter);
  const agent = agentOf(filter.namespace);
  const { at, id } = beforePosition(after);
  const rows = await run(
    () => db.sqlPlanned<{ movement_id: string }>`
      SELECT movement_id FROM (
        (SELECT m.created_at, m.movement_id FROM movements m
          WHERE m.asset = ${asset}
            AND (m.created_at, m.movement_id) < (${at}::timestamptz, ${id}::uuid)
            AND (${state}::text IS NULL OR m.request_state = ${state})
            AND (${strategy_id}::text IS NULL OR m.strategy_id = ${strategy_id})
            AND (${template_key}::text IS NULL OR m.template_key = ${template_key})
            AND (${agent}::text IS NULL OR m.agent = ${agent})
            AND (${reference}::text IS NULL OR m.external_reference = ${reference})
            AND (${pairs}::jsonb IS NULL OR m.metadata @> ${pairs}::jsonb)
          ORDER BY m.created_at DESC, m.movement_id DESC LIMIT ${limit}::integer)
        UNION ALL
        (SELECT o.created_at, o.movement_id FROM movement_other_assets o
            JOIN movements m USING (movement_id)
          WHERE o.asset = ${asset}
            AND (o.created_at, o.movement_id) < (${at}::timestamptz, ${id}::uuid)
            AND (${state}::text IS NULL OR m.request_state = ${state})
            AND (${strategy_id}::text IS NULL OR m.strategy_id = ${strategy_id})
            AND (${template_key}::text IS NULL OR m.template_key = ${template_key})
            AND (${agent}::text IS NULL OR m.agent = ${agent})
            AND (${reference}::text IS NULL OR m.external_reference = ${reference})
            AND (${pairs}::jsonb IS NULL OR m.metadata @> ${pairs}::jsonb)
          ORDER BY o.created_at DESC, o.movement_id DESC LIMIT ${limit}::integer)) page
      ORDER BY created_at DESC, movement_id DESC LIMIT ${limit}::integer`,
  );
  return rows.map(({ movement_id }) => movement_id);
}

/** Returns the template key of a movement, or null. */
export async function readMovementTemplateKey(
  db: Database,
  movementId: string,
): Promise<string | null> {
  const rows = await run(
    () =>
      db.sql<{
        template_key: string;
      }>`SELECT template_key FROM movements WHERE movement_id = ${movementId}::uuid`,
  );
  return rows[0]?.template_key ?? null;
}

/**
 * Returns the plan that a movement was created with, which never changes; null for an unknown
 * movement.
 */
export async function readPlan(db: Database, movementId: string): Promise<CompiledPlan | null> {
  const rows = await run(
    () =>
      db.sql<{
        compiled_plan: CompiledPlan | null;
      }>`SELECT compiled_plan_of(${movementId}::uuid) AS compiled_plan`,
  );
  return rows[0]?.compiled_plan ?? null;
}

export interface TimelineRecord {
  readonly event_id: string;
  readonly sequence: number;
  readonly event_type: string;
  readonly node_key: string | null;
  readonly attempt: number | null;
  readonly from_state: string | null;
  readonly to_state: string | null;
  readonly actor: Actor;
  readonly message: string;
  readonly data: JsonObject;
  readonly occurred_at: string;
}

/** Returns the whole timeline in order; null for an unknown movement. */
export async function readTimeline(
  db: Database,
  movementId: string,
): Promise<readonly TimelineRecord[] | null> {
  const rows = await run(() =>
    db.timelineEvent.findMany({ where: { movement_id: movementId }, orderBy: { sequence: 'asc' } }),
  );
  // Every movement has its creation in the timeline, so an empty timeline means an unknown
  // movement.
  if (rows.length === 0) return null;
  return rows.map((row) => ({
    event_id: row.event_id,
    sequence: row.sequence,
    event_type: row.event_type,
    node_key: row.node_key,
    attempt: row.attempt,
    from_state: row.from_state,
    to_state: row.to_state,
    actor: stored<Actor>(row.actor),
    message: row.message,
    data: object(row.data),
    occurred_at: iso(row.occurred_at),
  }));
}

/** Returns how many movements of the authority have not ended. */
export async function readOpenOfAgent(db: Database, authority: string): Promise<number> {
  const rows = await run(
    () => db.sql<{ open: number }>`SELECT open_movements_of(${authority}) AS open`,
  );
  return rows[0]?.open ?? 0;
}
