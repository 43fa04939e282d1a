/** Creates movements, and reads them for checks of commands. Changes go through `transition.ts`. */
import type { PayeeAddress } from '../domain/allowlist/match.ts';
import { AGENT_OPEN_MOVEMENTS } from '../domain/agents/bounds.ts';
import { ServiceError } from '../domain/errors.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ConditionResults } from '../domain/messages.ts';
import { normalize } from '../domain/money.ts';
import { drawTerms, flowsOf, limitAmount, type NodeFlow } from '../domain/plan/flow.ts';
import { nodeFacts, type NodeFacts } from '../domain/plan/node-facts.ts';
import { poolOf, type Pool } from '../domain/plan/pools.ts';
import { firstLegOf } from '../domain/plan/legs.ts';
import type { ChainAssets } from '../domain/plan/tokens.ts';
import type { CompiledPlan } from '../domain/plan/types.ts';
import { usualSeconds } from '../domain/send/usual-time.ts';
import type { MovementSnapshot, NodeSnapshot } from '../domain/snapshot.ts';
import {
  asJson,
  type ApprovalGuard,
  type AutoApproveResult,
  type LateReason,
} from '../domain/auto-approve/result.ts';
import type {
  ApprovalStatus,
  MovementState,
  ReservationStatus,
} from '../domain/states/movement.ts';
import type {
  AuditEntry,
  CommandKind,
  TimelineEntry,
  Transition,
  UncoveredHold,
} from '../domain/transition.ts';
import { newId } from '../platform/ids.ts';
import { traceParent } from '../platform/tracing.ts';
import type { Database } from '../prisma/client.ts';
import { auditRows, withEventIds } from './event-ids.ts';
import { DECISION_OUTDATED, run, sqlState, writeOrFind } from './faults.ts';
import { iso, isoOf, objectOrNull, stored } from './json.ts';
import type { ReferenceUse } from './movement-idempotency.ts';
import { createCall, type CreateAnswer, type CreateRows } from './shared-creates.ts';
import { transitionDocument, uncoveredHold } from './transition.ts';

export interface NewMovement {
  readonly plan: CompiledPlan;
  readonly compiled_plan_hash: string;
  /** The chains; they decide from which pools signed nodes take their funds. */
  readonly chains: ChainAssets;
  /** `usual_seconds` in the registry, by executor; absent: no entry declares a value. */
  readonly declared_seconds?: ReadonlyMap<string, number>;
  /** The addresses that the plan pays, as the allowlist writes them; absent: not known. */
  readonly payees?: readonly PayeeAddress[];
  readonly strategy_id: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** The caller's own reference; with `unique_reference`, unique within the scope. */
  readonly external_reference?: string | null;
  readonly unique_reference?: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly frontier: readonly string[];
  readonly approval_ttl_seconds: number;
  readonly callback_url: string | null;
  readonly auto_approve_result: AutoApproveResult | null;
  /** The client that the idempotency key belongs to. */
  readonly client_scope: string;
  readonly idempotency_key: string | null;
  /** The normalised request, stored with the key so that a conflict can name the differences. */
  readonly request: JsonObject;
  readonly created_by: JsonObject;
  readonly timeline: readonly TimelineEntry[];
  /** Returns the audit rows for the new id. */
  readonly audit: (movementId: string) => readonly AuditEntry[];
}

/** A newly created movement. */
export interface CreatedMovement {
  readonly created: true;
  readonly movement_id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly request_state: MovementState;
  readonly approval_status: ApprovalStatus;
  readonly reservation_status: ReservationStatus;
  readonly auto_approve_result: JsonObject | null;
  /** The command with which the caller wakes the movement's run. */
  readonly command: { readonly kind: CommandKind; readonly command_id: string | null };
}

export type CreateOutcome =
  | CreatedMovement
  | { readonly created: false; readonly movement_id: string; readonly request: JsonObject }
  /** Nothing was written: that movement holds the reference. */
  | ({ readonly created: false } & ReferenceUse);

/**
 * Writes a movement with its nodes, timeline, audit and command in one transaction, which other
 * creates may share ({@link createCall}). If the connection breaks, looks up the row by its id
 * before returning.
 */
export function createMovement(db: Database, movement: NewMovement): Promise<CreateOutcome> {
  return createMovementBy(db, movement, createCall(db, movement));
}

/**
 * As `createMovement`, but calls another SQL function, which checks more. After a deadlock `call`
 * is called again.
 */
export async function createMovementBy(
  db: Database,
  movement: NewMovement,
  call: (doc: string) => Promise<CreateRows>,
): Promise<CreateOutcome> {
  const [movementId, commandId] = [newId(), newId()];
  const doc = JSON.stringify(createDocument(db, { movementId, commandId }, movement));
  const write = (): Promise<CreateRows> => call(doc);
  const outcome = await written(db, movementId, write, movement.auto_approve_result);
  return ofCommand(outcome, commandId);
}

/** How a movement is approved in the transaction that creates it. */
export interface AutomaticApproval {
  /** Returns the approval's transition for the new id. */
  readonly transition: (movementId: string) => Transition;
  readonly guard: ApprovalGuard;
  /**
   * Recorded instead when the transaction finds that it cannot approve; the movement then waits for
   * approval.
   */
  readonly refused: Readonly<
    Record<
      LateReason,
      { readonly result: AutoApproveResult; readonly timeline: readonly TimelineEntry[] }
    >
  >;
}

/** Nothing was written. `uncovered`: the hold whose snapshot is too old; else null. */
export interface Undecided {
  readonly created: null;
  readonly uncovered: UncoveredHold | null;
}

/**
 * As {@link createMovement}, and approves in the same transaction. Writes nothing when the facts of
 * the approval have changed, or when a snapshot that a hold needs is too old; then the caller
 * decides again.
 */
export async function createApproved(
  db: Database,
  movement: NewMovement,
  approval: AutomaticApproval,
): Promise<CreateOutcome | Undecided> {
  const movementId = newId();
  const [commandId, approveId] = [newId(), newId()];
  const doc = JSON.stringify({
    ...createDocument(db, { movementId, commandId }, movement),
    approval: {
      transition: transitionDocument(db, approval.transition(movementId), approveId),
      guard: approval.guard,
      refused: Object.fromEntries(
        Object.entries(approval.refused).map(([reason, { result, timeline }]) => [
          reason,
          { result, timeline: withEventIds(timeline) },
        ]),
      ),
    },
  });
  const write = (): Promise<CreateRows> =>
    db.sql<{ answer: CreateAnswer }>`SELECT create_and_approve(${doc}::jsonb) AS answer`;
  try {
    const outcome = ofCommand(await written(db, movementId, write, null), commandId);
    const approved = outcome.created && outcome.request_state !== 'PENDING_APPROVAL';
    return approved ? { ...outcome, command: { kind: 'approve', command_id: approveId } } : outcome;
  } catch (error) {
    if (sqlState(error) === DECISION_OUTDATED) return { created: null, uncovered: null };
    const uncovered = uncoveredHold(error);
    if (uncovered === null) throw error;
    return { created: null, uncovered };
  }
}

/** Returns the outcome with its create command, if this call wrote the movement. */
function ofCommand(outcome: CreateOutcome, command_id: string): CreateOutcome {
  return outcome.created ? { ...outcome, command: { kind: 'create', command_id } } : outcome;
}

/**
 * Runs the write of a create: repeats it after a deadlock, and looks up the movement by its id when
 * the outcome is unknown.
 */
async function written(
  db: Database,
  movementId: string,
  write: () => Promise<CreateRows>,
  result: AutoApproveResult | null,
): Promise<CreateOutcome> {
  const answered = async (): Promise<CreateOutcome> => {
    const [row] = await write();
    if (row === undefined) throw new Error('the create of the movement returned no row');
    return toOutcome(row.answer, result);
  };
  return writeOrFind(db, answered, () => findCreated(db, movementId));
}

function toOutcome(answer: CreateAnswer, result: AutoApproveResult | null): CreateOutcome {
  const { movement_id, holder } = answer;
  if (!answer.created)
    return holder === undefined
      ? { created: false, movement_id, request: answer.request ?? {} }
      : { created: false, movement_id, holder };
  const at = (text: string | undefined): string => new Date(text ?? 0).toISOString();
  return {
    created: true,
    movement_id: answer.movement_id,
    created_at: at(answer.created_at),
    expires_at: at(answer.expires_at),
    request_state: answer.approved?.request_state ?? 'PENDING_APPROVAL',
    approval_status: answer.approved?.approval_status ?? 'pending',
    reservation_status: answer.approved?.reservation_status ?? 'none',
    auto_approve_result: answer.auto_approve_result ?? (result === null ? null : asJson(result)),
    command: { kind: 'create', command_id: null },
  };
}

async function findCreated(db: Database, movementId: string): Promise<CreateOutcome | null> {
  const found = await db.movement.findUnique({ where: { movement_id: movementId } });
  if (found === null) return null;
  return {
    created: true,
    movement_id: movementId,
    created_at: iso(found.created_at),
    expires_at: iso(found.expires_at),
    request_state: stored(found.request_state),
    approval_status: stored(found.approval_status),
    reservation_status: stored(found.reservation_status),
    auto_approve_result: objectOrNull(found.auto_approve_result),
    command: { kind: 'create', command_id: null },
  };
}

/** The fields of each node that the compiled plan does not contain, in plan order. */
interface NodeDocument extends NodeFacts {
  readonly flow?: NodeFlow & { readonly pool: Pool | null };
  /** For a bridge's second leg: the key of the node whose funds it brings; else null. */
  readonly brings: string | null;
  readonly usual_seconds: number;
}

function nodeDocuments({ plan, chains, declared_seconds }: NewMovement): readonly NodeDocument[] {
  const flows = flowsOf(plan);
  return plan.nodes.map((node) => {
    const flow = flows.get(node.node_key);
    return {
      ...(flow === undefined ? {} : { flow: { ...flow, pool: poolOf(node, chains) } }),
      brings: firstLegOf(node),
      ...nodeFacts(node),
      usual_seconds: usualSeconds(node.action_type, {
        attention_seconds: node.timeout_policy?.attention_seconds,
        declared: declared_seconds?.get(node.executor_binding.executor_key),
      }),
    };
  });
}

function createDocument(
  db: Database,
  { movementId, commandId }: { readonly movementId: string; readonly commandId: string },
  movement: NewMovement,
): Record<string, unknown> {
  const { plan } = movement;
  const nodes = nodeDocuments(movement);
  return {
    movement: {
      movement_id: movementId,
      template_id: plan.template.template_id,
      template_key: plan.template.template_key,
      template_version: plan.template.version,
      strategy_id: movement.strategy_id,
      asset: plan.intent.asset,
      amount: normalize(plan.intent.amount),
      labels: movement.labels,
      external_reference: movement.external_reference ?? null,
      unique_reference: movement.unique_reference ?? false,
      metadata: movement.metadata ?? {},
      compiled_plan_hash: movement.compiled_plan_hash,
      outflow: plan.outflow,
      draw_terms: drawTerms(plan),
      limit_amount: limitAmount(plan),
      pooled: nodes.some(({ flow }) => flow?.from === null && flow.pool !== null),
      current_frontier: movement.frontier,
      auto_approve_result: movement.auto_approve_result,
      callback_url: movement.callback_url,
      client_scope: movement.client_scope,
      idempotency_key: movement.idempotency_key,
      request: movement.request,
      created_by: movement.created_by,
      payees: movement.payees ?? null,
      trace_parent: traceParent(),
      most_open: movement.created_by['role'] === 'agent' ? AGENT_OPEN_MOVEMENTS : null,
      approval_ttl_seconds: movement.approval_ttl_seconds,
    },
    nodes,
    signed: plan.nodes.some(({ signer_binding }) => signer_binding !== null),
    compiled_plan: plan,
    timeline: withEventIds(movement.timeline),
    audit: auditRows(db, movement.audit(movementId)),
    command_id: commandId,
  };
}

interface SnapshotRow {
  readonly request_state: MovementState;
  readonly reservation_status: ReservationStatus;
  readonly version: number;
  readonly strategy_id: string | null;
  readonly acknowledged: boolean;
  readonly compiled_plan: CompiledPlan;
  readonly edge_conditions: ConditionResults;
  readonly nodes: readonly (Omit<NodeSnapshot, 'settled_order'> & {
    readonly completed_at: string | null;
  })[];
}

/**
 * Returns a movement for checks of commands; throws `movement_not_found`. Reads with one statement,
 * because a write could come between two.
 */
export async function readSnapshot(db: Database, movementId: string): Promise<MovementSnapshot> {
  const rows = await run(
    () => db.sql<SnapshotRow>`
      SELECT m.request_state, m.reservation_status, m.version, m.strategy_id,
        m.acknowledged_at IS NOT NULL AS acknowledged,
        compiled_plan_of(m.movement_id) AS compiled_plan, m.edge_conditions, (
        SELECT json_agg(n ORDER BY n.position) FROM (
          SELECT position, node_key, node_kind, state, attempt, submit_epoch, recover_first,
            submitted_at IS NOT NULL AS accepted, restored, resumed,
            fires_no_edge(movement_nodes) AS ended_by_stop,
            may_be_resolved(movement_nodes, svc_now()) AS resolvable,
            is_overdue(movement_nodes, svc_now()) AS overdue,
            trim_scale(amount)::text AS amount, output,
                 error_code, updated_at, completed_at,
            coalesce(signer_binding ->> 'signer_key', signer_binding #>> '{}') AS signer_key
          FROM movement_nodes WHERE movement_id = m.movement_id
        ) n
      ) AS nodes
      FROM movements m WHERE m.movement_id = ${movementId}::uuid`,
  );
  const [row] = rows;
  if (row === undefined)
    throw new ServiceError('movement_not_found', { context: { movement_id: movementId } });
  return {
    movement_id: movementId,
    state: row.request_state,
    reservation_status: row.reservation_status,
    version: row.version,
    strategy_id: row.strategy_id,
    acknowledged: row.acknowledged,
    plan: row.compiled_plan,
    conditions: row.edge_conditions,
    nodes: row.nodes.map((node): NodeSnapshot => ({
      node_key: node.node_key,
      node_kind: node.node_kind,
      state: node.state,
      attempt: node.attempt,
      submit_epoch: node.submit_epoch,
      recover_first: node.recover_first,
      accepted: node.accepted,
      restored: node.restored,
      resumed: node.resumed,
      resolvable: node.resolvable ?? false,
      overdue: node.overdue ?? false,
      ended_by_stop: node.ended_by_stop === true,
      amount: node.amount,
      output: node.output,
      error_code: node.error_code,
      updated_at: isoOf(node.updated_at),
      signer_key: node.signer_key,
      settled_order: node.completed_at === null ? 0 : Date.parse(node.completed_at),
    })),
  };
}
