/** Reads all data of a node that its phase needs, with one statement. */
import type { SignRequest } from '../domain/executor.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ConditionResults, LoadedMovement, RecoverArgs } from '../domain/messages.ts';
import type { CompiledNode, CompiledPlan } from '../domain/plan/types.ts';
import type { MovementState, ReservationStatus } from '../domain/states/movement.ts';
import type { NodeState } from '../domain/states/node.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/** A node with its plan, for its phases. Times are milliseconds by the database's clock. */
export interface PhaseRow {
  readonly movement_id: string;
  readonly movement_state: MovementState;
  readonly node_key: string;
  readonly state: NodeState;
  readonly attempt: number;
  readonly epoch: number;
  readonly amount: string | null;
  readonly preflight_passed: boolean;
  readonly prepared_action: JsonObject | null;
  readonly sign_request: SignRequest | null;
  readonly recover_first: boolean;
  /** Whether the node comes from a restored database, which may have lost sends of the node. */
  readonly restored: boolean;
  readonly resumed: boolean;
  /** Whether an operator wants this attempt's transaction cancelled. */
  readonly cancel_asked: boolean;
  readonly error_count: number;
  /** Number of consecutive looks without an answer. */
  readonly unanswered: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly external_ref: string | null;
  readonly output: JsonObject | null;
  readonly now_ms: number;
  readonly updated_ms: number;
  /** Time of the first look without an answer. */
  readonly unanswered_ms: number | null;
  /**
   * From when a person must know that the node waits for its venue; null: it does not wait for it.
   */
  readonly wait_overdue_ms: number | null;
  readonly started_ms: number | null;
  readonly submitted_ms: number | null;
  readonly send_not_after_ms: number | null;
  readonly plan: Pick<
    CompiledPlan,
    'intent' | 'input_params' | 'risk_controls' | 'completion_policy'
  >;
  readonly node: CompiledNode;
  /**
   * Whether the node runs in a CANCELLED movement: behind an on_cancel edge, or as a bridge's
   * second leg.
   */
  readonly outlives_cancel: boolean;
  /** Whether an outgoing edge has a condition. */
  readonly conditional: boolean;
  /** Stored results of the movement's conditions; null when no outgoing edge has a condition. */
  readonly conditions: ConditionResults | null;
  /** Outputs of completed nodes, by node key, if the amount may refer to one. */
  readonly outputs: Readonly<Record<string, JsonObject>>;
  /**
   * The node named by `config.match_from`, with its record once that node has completed; null
   * without such a node.
   */
  readonly matched: {
    readonly node_key: string;
    readonly external_ref: string | null;
    readonly output: JsonObject | null;
  } | null;
  /**
   * Present when the decision that follows from the node's completion must be written with it.
   * `view`: the movement at the time the node was read; null if it was not read then.
   */
  readonly course?: { readonly view: LoadedMovement | null };
}

/** Returns the node; null when the movement or node does not exist. */
export async function readPhase(
  db: Database,
  movementId: string,
  nodeKey: string,
): Promise<PhaseRow | null> {
  const rows = await run(
    () =>
      db.sql<{
        answer: PhaseRow | null;
      }>`SELECT read_phase(${movementId}::uuid, ${nodeKey}) AS answer`,
  );
  return rows[0]?.answer ?? null;
}

/** A node, and its movement's view if that was read too, both at one moment. */
export interface NodeAndView {
  readonly row: PhaseRow;
  readonly view: LoadedMovement | null;
}

/** Returns the node and its movement's view, both at one moment. */
export async function readPhaseAndView(
  db: Database,
  movementId: string,
  nodeKey: string,
): Promise<NodeAndView | null> {
  const rows = await run(
    () => db.sql<{ row: PhaseRow | null; view: LoadedMovement | null }>`
      SELECT read_phase(${movementId}::uuid, ${nodeKey}) AS row,
        movement_view(${movementId}::uuid, svc_now()) AS view`,
  );
  const [found] = rows;
  return found === undefined || found.row === null ? null : { row: found.row, view: found.view };
}

/** The fields of a plan's node that other nodes read; `signer_binding` is the present signer. */
export type PlanNode = Pick<CompiledNode, 'node_key' | 'action_type' | 'config' | 'signer_binding'>;

export async function readPlanNodes(
  db: Database,
  movementId: string,
): Promise<readonly PlanNode[]> {
  const rows = await run(
    () => db.sql<{ node: PlanNode }>`
      SELECT node_plan(n.own_plan, p.input_params)
        || jsonb_build_object('signer_binding', n.signer_binding) AS node
      FROM movement_nodes n JOIN movement_plans p USING (movement_id)
        WHERE movement_id = ${movementId}::uuid`,
  );
  return rows.map(({ node }) => node);
}

/**
 * Starts a recovery: raises the epoch, and returns the node at that moment. With `taken: false`
 * nothing was written.
 */
export async function takeOver(
  db: Database,
  args: RecoverArgs,
): Promise<{ readonly taken: boolean; readonly row: PhaseRow | null }> {
  const { movement_id, node_key, attempt, from_observe = false } = args;
  const rows = await run(
    () => db.sql<{ answer: { taken: boolean; row: PhaseRow | null } }>`
      SELECT take_over(${movement_id}::uuid, ${node_key}, ${attempt}::integer,
        ${from_observe}) AS answer`,
  );
  return rows[0]?.answer ?? { taken: false, row: null };
}

/** Returns the movement's view for a decision outside its run; marks no command as seen. */
export async function readMovementView(
  db: Database,
  movementId: string,
): Promise<LoadedMovement | null> {
  const rows = await run(
    () => db.sql<{ answer: LoadedMovement | null }>`
      SELECT movement_view(${movementId}::uuid, svc_now()) AS answer`,
  );
  return rows[0]?.answer ?? null;
}

/** Returns the view for a run and marks the movement's commands as seen. Null: unknown id. */
export async function loadMovement(
  db: Database,
  movementId: string,
  runId: string,
): Promise<LoadedMovement | null> {
  const rows = await run(
    () =>
      db.sql<{
        answer: LoadedMovement | null;
      }>`SELECT load_movement(${movementId}::uuid, ${runId}) AS answer`,
  );
  return rows[0]?.answer ?? null;
}

/** Returns the facts that decide whether a movement's hold ends with the movement. */
export async function readEnd(
  db: Database,
  movementId: string,
): Promise<{ reservation: ReservationStatus; spent: boolean }> {
  const rows = await run(
    () => db.sql<{ reservation: ReservationStatus; spent: boolean }>`
      SELECT m.reservation_status AS reservation, EXISTS (
        SELECT 1 FROM movement_nodes n WHERE n.movement_id = m.movement_id AND n.state = 'COMPLETED'
          AND (n.own_plan ->> 'has_side_effect')::boolean) AS spent
      FROM movements m WHERE m.movement_id = ${movementId}::uuid`,
  );
  return rows[0] ?? { reservation: 'none', spent: false };
}

/**
 * Records when the next look is due, for display. The node's version stays unchanged, because this
 * value decides nothing.
 */
export async function noteNextLook(
  db: Database,
  node: Pick<PhaseRow, 'movement_id' | 'node_key' | 'attempt'>,
  seconds: number,
): Promise<void> {
  await run(
    () => db.sql`
      UPDATE movement_nodes SET next_look_at = svc_now() + make_interval(secs => ${seconds})
      WHERE movement_id = ${node.movement_id}::uuid AND node_key = ${node.node_key}
        AND attempt = ${node.attempt}::integer`,
  );
}

/** Stops counting the node's `execution_seconds` until its state changes. */
export async function freezeNode(
  db: Database,
  { movement_id, node_key }: Pick<PhaseRow, 'movement_id' | 'node_key'>,
): Promise<void> {
  await run(
    () =>
      db.sql`SELECT freeze_node(${movement_id}::uuid, ${node_key}::text, svc_now())::text AS done`,
  );
}
