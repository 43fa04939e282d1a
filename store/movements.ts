/** Creating and reading movements. Changes go through `transition.ts`. */
import { ServiceError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/executor.ts';
import type { ConditionResults } from '../domain/messages.ts';
import { normalize } from '../domain/money.ts';
import type { CompiledPlan } from '../domain/plan/types.ts';
import type { Actor } from '../domain/roles.ts';
import type { MovementSnapshot, NodeSnapshot } from '../domain/snapshot.ts';
import type { ApprovalStatus, MovementState, ReservationStatus } from '../domain/states/movement.ts';
import type { NodeState } from '../domain/states/node.ts';
import type { NodeKind } from '../domain/graph/types.ts';
import type { AuditEntry, TimelineEntry } from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import type { Prisma } from '../prisma/generated/client.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows, withEventIds } from './event-ids.ts';
import { databaseFault, run } from './faults.ts';
import { inNamespace } from './namespaces.ts';
import { decimalOrNull, iso, isoOrNull, object, objectOrNull, stored } from './json.ts';

export interface NewMovement {
  readonly plan: CompiledPlan;
  readonly compiled_plan_hash: string;
  readonly strategy_id: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly frontier: readonly string[];
  readonly approval_ttl_seconds: number;
  readonly callback_url: string | null;
  readonly auto_approve_result: JsonObject | null;
  /** The client the idempotency key belongs to. */
  readonly client_scope: string;
  readonly idempotency_key: string | null;
  /** The normalised request, kept beside the key so that a conflict can name what differs. */
  readonly request: JsonObject;
  readonly created_by: JsonObject;
  readonly timeline: readonly TimelineEntry[];
  /** The audit rows, given the new id. */
  readonly audit: (movementId: string) => readonly AuditEntry[];
}

export type CreateOutcome =
  | { readonly created: true; readonly movement_id: string; readonly created_at: string; readonly expires_at: string }
  | { readonly created: false; readonly movement_id: string; readonly request: JsonObject };

/**
 * Writes a movement with its nodes, timeline, audit and command in one transaction. When the connection
 * breaks the row is looked up by its id before an answer is given.
 */
export async function createMovement(db: Database, movement: NewMovement): Promise<CreateOutcome> {
  const movementId = newId();
  const doc = JSON.stringify(createDocument(db, movementId, movement));
  try {
    const rows = await db.sql<{ answer: CreateAnswer }>`SELECT create_movement(${doc}::jsonb) AS answer`;
    const [row] = rows;
    if (row === undefined) throw new Error('create_movement answered nothing');
    return toOutcome(row.answer);
  } catch (error) {
    if (databaseFault(error) !== 'unreachable') throw error;
    return lookUpCreated(db, movementId, error);
  }
}

interface CreateAnswer {
  readonly created: boolean;
  readonly movement_id: string;
  readonly request?: JsonObject;
  readonly created_at?: string;
  readonly expires_at?: string;
}

function toOutcome(answer: CreateAnswer): CreateOutcome {
  if (!answer.created) return { created: false, movement_id: answer.movement_id, request: answer.request ?? {} };
  const at = (text: string | undefined): string => new Date(text ?? 0).toISOString();
  return { created: true, movement_id: answer.movement_id, created_at: at(answer.created_at), expires_at: at(answer.expires_at) };
}

async function lookUpCreated(db: Database, movementId: string, cause: unknown): Promise<CreateOutcome> {
  const found = await db.movement.findUnique({ where: { movement_id: movementId } }).catch(() => undefined);
  if (found === undefined) throw new ServiceError('outcome_unknown', { cause });
  if (found === null) throw new ServiceError('dependency_unavailable', { cause });
  return { created: true, movement_id: movementId, created_at: iso(found.created_at), expires_at: iso(found.expires_at) };
}

function createDocument(db: Database, movementId: string, movement: NewMovement): Record<string, unknown> {
  const { plan } = movement;
  return {
    movement: {
      movement_id: movementId,
      template_id: plan.template.template_id,
      template_key: plan.template.template_key,
      template_version: plan.template.version,
      strategy_id: movement.strategy_id,
      request_state: 'PENDING_APPROVAL',
      approval_status: 'pending',
      reservation_status: 'none',
      asset: plan.intent.asset,
      amount: normalize(plan.intent.amount),
      intent: plan.intent,
      input_params: plan.input_params,
      labels: movement.labels,
      compiled_plan: plan,
      compiled_plan_hash: movement.compiled_plan_hash,
      current_frontier: movement.frontier,
      auto_approve_result: movement.auto_approve_result,
      callback_url: movement.callback_url,
      client_scope: movement.client_scope,
      idempotency_key: movement.idempotency_key,
      request: movement.request,
      created_by: movement.created_by,
      expires_at: { '@after_seconds': movement.approval_ttl_seconds },
    },
    nodes: plan.nodes.map((node, position) => ({
      node_key: node.node_key,
      position,
      node_kind: node.node_kind,
      action_type: node.action_type,
      executor_binding: node.executor_binding,
      signer_binding: node.signer_binding,
    })),
    timeline: withEventIds(movement.timeline),
    audit: auditRows(db, movement.audit(movementId)),
    command_id: newId(),
  };
}

/** Movement and nodes as they were at one moment: two statements of their own would see a write in between. */
const ONE_MOMENT = { isolationLevel: 'RepeatableRead' } as const;

/** A movement for the rules, or `movement_not_found`. */
export async function readSnapshot(db: Database, movementId: string): Promise<MovementSnapshot> {
  const [movement, nodes] = await run(() =>
    db.$transaction(
      [
        db.movement.findUnique({
          where: { movement_id: movementId },
          select: { request_state: true, reservation_status: true, version: true, compiled_plan: true, edge_conditions: true },
        }),
        db.movementNode.findMany({ where: { movement_id: movementId }, orderBy: { position: 'asc' } }),
      ],
      ONE_MOMENT,
    ),
  );
  if (movement === null) throw new ServiceError('movement_not_found', { context: { movement_id: movementId } });
  return {
    movement_id: movementId,
    state: movement.request_state as MovementState,
    reservation_status: movement.reservation_status as ReservationStatus,
    version: movement.version,
    plan: stored<CompiledPlan>(movement.compiled_plan),
    conditions: stored<ConditionResults>(movement.edge_conditions),
    nodes: nodes.map((node): NodeSnapshot => ({
      node_key: node.node_key,
      node_kind: node.node_kind as NodeKind,
      state: node.state as NodeState,
      attempt: node.attempt,
      submit_epoch: node.submit_epoch,
      recover_first: node.recover_first,
      resumed: node.resumed,
      output: objectOrNull(node.output),
      error_code: node.error_code,
      updated_at: iso(node.updated_at),
      settled_order: node.completed_at?.getTime() ?? 0,
    })),
  };
}

export interface MovementSummary {
  readonly movement_id: string;
  readonly template_key: string;
  readonly template_version: number;
  readonly strategy_id: string | null;
  readonly request_state: MovementState;
  readonly approval_status: ApprovalStatus;
  readonly reservation_status: ReservationStatus;
  readonly intent: JsonObject;
  readonly current_frontier: readonly string[];
  readonly error_code: string | null;
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
  /** Completed after an operator's resume in its present attempt. */
  readonly resumed: boolean;
  readonly executor_binding: JsonObject;
  readonly signer_binding: JsonObject | null;
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
  readonly callbacks: { readonly pending: number; readonly delivered: number; readonly dead_letter: number };
  readonly plan: CompiledPlan;
  /** Stored results of conditions, by the edge's position. */
  readonly edge_conditions: ConditionResults;
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
  current_frontier: true,
  error_code: true,
  created_at: true,
  updated_at: true,
  expires_at: true,
} as const satisfies Prisma.MovementSelect;

type SummaryRow = Prisma.MovementGetPayload<{ select: typeof SUMMARY }>;

function toSummary(row: SummaryRow): MovementSummary {
  return {
    movement_id: row.movement_id,
    template_key: row.template_key,
    template_version: row.template_version,
    strategy_id: row.strategy_id,
    request_state: row.request_state as MovementState,
    approval_status: row.approval_status as ApprovalStatus,
    reservation_status: row.reservation_status as ReservationStatus,
    intent: object(row.intent),
    current_frontier: row.current_frontier,
    error_code: row.error_code,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    expires_at: iso(row.expires_at),
  };
}

export interface MovementFilter {
  readonly state?: MovementState | undefined;
  readonly strategy_id?: string | undefined;
  /** Only movements of templates in this namespace. */
  readonly namespace?: string | undefined;
}

/** Where a page ended: newest first by (created_at, movement_id). */
export interface PagePosition {
  readonly created_at: string;
  readonly id: string;
}

/** Up to `limit` movements after `position`, newest first. */
export async function listMovements(
  db: Database,
  filter: MovementFilter,
  page: { readonly limit: number; readonly after: PagePosition | null },
): Promise<readonly MovementSummary[]> {
  const rows = await run(() =>
    db.movement.findMany({
      select: SUMMARY,
      where: {
        ...(filter.state === undefined ? {} : { request_state: filter.state }),
        ...(filter.strategy_id === undefined ? {} : { strategy_id: filter.strategy_id }),
        ...(filter.namespace === undefined ? {} : inNamespace(filter.namespace)),
        ...(page.after === null ? {} : olderThan(page.after)),
      },
      orderBy: [{ created_at: 'desc' }, { movement_id: 'desc' }],
      take: page.limit,
    }),
  );
  return rows.map(toSummary);
}

function olderThan(after: PagePosition): Prisma.MovementWhereInput {
  const at = new Date(after.created_at);
  return { OR: [{ created_at: { lt: at } }, { created_at: at, movement_id: { lt: after.id } }] };
}

/** The template of a movement, or null. */
export async function readMovementTemplateKey(db: Database, movementId: string): Promise<string | null> {
  const rows = await run(
    () => db.sql<{ template_key: string }>`SELECT template_key FROM movements WHERE movement_id = ${movementId}::uuid`,
  );
  return rows[0]?.template_key ?? null;
}

/** Everything a caller may read about one movement, or null. */
export async function readMovement(db: Database, movementId: string): Promise<MovementDetail | null> {
  const [row, nodes, artifacts, callbacks] = await run(() =>
    db.$transaction(
      [
        db.movement.findUnique({ where: { movement_id: movementId } }),
        db.movementNode.findMany({ where: { movement_id: movementId }, orderBy: { position: 'asc' } }),
        db.artifact.findMany({ where: { movement_id: movementId }, orderBy: [{ created_at: 'asc' }, { artifact_id: 'asc' }] }),
        db.callback.groupBy({ by: ['status'], where: { movement_id: movementId }, _count: { _all: true }, orderBy: { status: 'asc' } }),
      ],
      ONE_MOMENT,
    ),
  );
  if (row === null) return null;
  const count = (status: string): number => {
    const found = callbacks.find((each) => each.status === status)?._count;
    return typeof found === 'object' ? (found._all ?? 0) : 0;
  };
  return {
    ...toSummary(row),
    template_id: row.template_id,
    compiled_plan_hash: row.compiled_plan_hash,
    input_params: object(row.input_params),
    labels: object(row.labels),
    created_by: object(row.created_by),
    approver_id: row.approver_id,
    approved_by: row.approved_by,
    auto_approve_result: objectOrNull(row.auto_approve_result),
    error_message: row.error_message,
    run_id: row.run_id,
    nodes: nodes.map(toNodeRecord),
    artifacts: artifacts.map((each) => ({
      artifact_id: each.artifact_id,
      node_key: each.node_key,
      attempt: each.attempt,
      kind: each.kind,
      data: object(each.data),
      created_at: iso(each.created_at),
    })),
    callbacks: { pending: count('pending'), delivered: count('delivered'), dead_letter: count('dead_letter') },
    plan: stored<CompiledPlan>(row.compiled_plan),
    edge_conditions: stored<ConditionResults>(row.edge_conditions),
  };
}

function toNodeRecord(node: Prisma.MovementNodeGetPayload<object>): NodeRecord {
  return {
    node_key: node.node_key,
    node_kind: node.node_kind as NodeKind,
    action_type: node.action_type,
    state: node.state as NodeState,
    attempt: node.attempt,
    resumed: node.resumed,
    executor_binding: object(node.executor_binding),
    signer_binding: objectOrNull(node.signer_binding),
    amount: decimalOrNull(node.amount),
    external_ref: node.external_ref,
    output: objectOrNull(node.output),
    error_code: node.error_code,
    error_message: node.error_message,
    started_at: isoOrNull(node.started_at),
    updated_at: iso(node.updated_at),
    completed_at: isoOrNull(node.completed_at),
  };
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

/** The whole timeline in order, or null for an unknown movement. */
export async function readTimeline(db: Database, movementId: string): Promise<readonly TimelineRecord[] | null> {
  const rows = await run(() => db.timelineEvent.findMany({ where: { movement_id: movementId }, orderBy: { sequence: 'asc' } }));
  // Every movement has its creation on the timeline, so an empty one is an unknown movement.
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
