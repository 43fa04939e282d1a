/** What a phase reads before it works: one statement for everything it needs to know about its node. */
import type { JsonObject, SignRequest } from '../domain/executor.ts';
import type { LoadedMovement } from '../domain/messages.ts';
import type { CompiledNode, CompiledPlan } from '../domain/plan/types.ts';
import type { MovementState, ReservationStatus } from '../domain/states/movement.ts';
import type { NodeState } from '../domain/states/node.ts';
import type { Database } from '../prisma/client.ts';
import { run } from './faults.ts';

/** A node with its plan, as its phases work on it. Times are milliseconds of the database's clock. */
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
  readonly error_count: number;
  readonly error_code: string | null;
  readonly external_ref: string | null;
  readonly output: JsonObject | null;
  readonly now_ms: number;
  readonly started_ms: number | null;
  readonly submitted_ms: number | null;
  readonly send_not_after_ms: number | null;
  readonly plan: Pick<CompiledPlan, 'intent' | 'input_params' | 'risk_controls' | 'completion_policy'>;
  readonly node: CompiledNode;
  /** Whether some on_cancel edge leads here: the only lane that goes on in CANCELLED. */
  readonly on_cancel_target: boolean;
  /** Outputs of completed nodes, by key. */
  readonly outputs: Readonly<Record<string, JsonObject>>;
}

/** The node, or null when the movement or node does not exist. */
export async function readPhase(db: Database, movementId: string, nodeKey: string): Promise<PhaseRow | null> {
  const rows = await run(
    () => db.$queryRaw<{ answer: PhaseRow }[]>`
      SELECT jsonb_build_object(
        'movement_id', m.movement_id, 'movement_state', m.request_state, 'node_key', n.node_key, 'state', n.state,
        'attempt', n.attempt, 'epoch', n.submit_epoch, 'amount', trim_scale(n.amount)::text, 'preflight_passed', n.preflight_passed,
        'prepared_action', n.prepared_action, 'sign_request', n.sign_request, 'recover_first', n.recover_first,
        'error_count', n.error_count, 'error_code', n.error_code, 'external_ref', n.external_ref, 'output', n.output,
        'now_ms', extract(epoch FROM svc_now()) * 1000, 'started_ms', extract(epoch FROM n.started_at) * 1000,
        'submitted_ms', extract(epoch FROM n.submitted_at) * 1000, 'send_not_after_ms', extract(epoch FROM n.send_not_after) * 1000,
        'plan', jsonb_build_object('intent', m.compiled_plan -> 'intent', 'input_params', m.compiled_plan -> 'input_params',
          'risk_controls', m.compiled_plan -> 'risk_controls', 'completion_policy', m.compiled_plan -> 'completion_policy'),
        'node', m.compiled_plan -> 'nodes' -> n.position,
        'on_cancel_target', EXISTS (SELECT 1 FROM jsonb_array_elements(m.compiled_plan -> 'edges') AS e
          WHERE e ->> 'to' = n.node_key AND e ->> 'edge_type' = 'on_cancel'),
        'outputs', coalesce((SELECT jsonb_object_agg(o.node_key, o.output) FROM movement_nodes o
          WHERE o.movement_id = m.movement_id AND o.state = 'COMPLETED' AND o.output IS NOT NULL), '{}'::jsonb)
      ) AS answer
      FROM movements m JOIN movement_nodes n ON n.movement_id = m.movement_id
      WHERE m.movement_id = ${movementId}::uuid AND n.node_key = ${nodeKey}`,
  );
  return rows[0]?.answer ?? null;
}

/** What a run reads; marks the movement's commands as seen. Null for an unknown movement. */
export async function loadMovement(db: Database, movementId: string, runId: string): Promise<LoadedMovement | null> {
  const rows = await run(
    () => db.$queryRaw<{ answer: LoadedMovement | null }[]>`SELECT load_movement(${movementId}::uuid, ${runId}) AS answer`,
  );
  return rows[0]?.answer ?? null;
}

/** The facts that decide whether a movement's hold ends with it. */
export async function readEnd(db: Database, movementId: string): Promise<{ reservation: ReservationStatus; spent: boolean }> {
  const rows = await run(
    () => db.$queryRaw<{ reservation: ReservationStatus; spent: boolean }[]>`
      SELECT m.reservation_status AS reservation, EXISTS (
        SELECT 1 FROM movement_nodes n WHERE n.movement_id = m.movement_id AND n.state = 'COMPLETED'
          AND (m.compiled_plan -> 'nodes' -> n.position ->> 'has_side_effect')::boolean) AS spent
      FROM movements m WHERE m.movement_id = ${movementId}::uuid`,
  );
  return rows[0] ?? { reservation: 'none', spent: false };
}
