/** A movement as the rules see it: plan, states and what the walk needs to know. */
import { withConditions } from './conditions/apply.ts';
import type { JsonObject } from './json.ts';
import type { ConditionResults } from './messages.ts';
import type { WalkInput, WalkNode } from './graph/walk-types.ts';
import { firstLegOf } from './plan/legs.ts';
import type { CompiledPlan } from './plan/types.ts';
import type { MovementState, ReservationStatus } from './states/movement.ts';
import type { NodeState } from './states/node.ts';
import type { NodeKind } from './graph/types.ts';

export interface NodeSnapshot {
  readonly node_key: string;
  readonly node_kind: NodeKind;
  readonly state: NodeState;
  readonly attempt: number;
  readonly submit_epoch: number;
  readonly recover_first: boolean;
  /** The present attempt was accepted once: that it cannot be found proves nothing. */
  readonly accepted: boolean;
  /**
   * It came out of a restored database: every new attempt asks first, until a person resolves it.
   */
  readonly restored: boolean;
  readonly resumed: boolean;
  /** UNKNOWN, or observed for longer than usual (`may_be_resolved` in prisma/functions). */
  readonly resolvable?: boolean;
  /** FAILED because a stop ended its send. */
  readonly ended_by_stop?: boolean;
  /** As it was resolved; null before. */
  readonly amount: string | null;
  readonly output: JsonObject | null;
  readonly error_code: string | null;
  /** Orders nodes by their last change; ISO 8601. */
  readonly updated_at: string;
  /** Who signs it now; a rotation may have replaced the one that its plan names. */
  readonly signer_key: string | null;
  /** Milliseconds since the epoch, 0 while open. */
  readonly settled_order: number;
}

export interface MovementSnapshot {
  readonly movement_id: string;
  readonly state: MovementState;
  readonly reservation_status: ReservationStatus;
  readonly version: number;
  /** A person has dealt with its failure. */
  readonly acknowledged?: boolean;
  readonly plan: CompiledPlan;
  /** Stored results of conditions, by the edge's position. */
  readonly conditions: ConditionResults;
  readonly nodes: readonly NodeSnapshot[];
}

/** A movement of this plan as a create leaves it. */
export function newSnapshot(movement_id: string, plan: CompiledPlan): MovementSnapshot {
  return {
    movement_id,
    state: 'PENDING_APPROVAL',
    reservation_status: 'none',
    version: 1,
    plan,
    conditions: {},
    nodes: plan.nodes.map(({ node_key, node_kind, signer_binding }) => ({
      node_key,
      node_kind,
      signer_key: signer_binding?.signer_key ?? null,
      state: 'BLOCKED',
      attempt: 1,
      submit_epoch: 0,
      recover_first: false,
      accepted: false,
      restored: false,
      resumed: false,
      amount: null,
      output: null,
      error_code: null,
      updated_at: '',
      settled_order: 0,
    })),
  };
}

/** The walk's view of a snapshot. */
export function toWalk(snapshot: MovementSnapshot): WalkInput {
  return {
    state: snapshot.state,
    nodes: snapshot.nodes.map((node, at) => {
      const planned = snapshot.plan.nodes[at];
      return walkNode({ ...node, brings: planned === undefined ? null : firstLegOf(planned) });
    }),
    edges: withConditions(snapshot.plan.edges, snapshot.conditions),
  };
}

/** The walk's view of one node. */
export function walkNode(
  node: Pick<
    NodeSnapshot,
    'node_key' | 'node_kind' | 'state' | 'resumed' | 'error_code' | 'settled_order'
  > &
    Pick<WalkNode, 'brings' | 'ended_by_stop'>,
): WalkNode {
  return {
    node_key: node.node_key,
    node_kind: node.node_kind,
    state: node.state,
    resumed: node.resumed,
    timed_out: isTimedOut(node.error_code),
    error_code: node.error_code,
    settled_order: node.settled_order,
    ...(node.brings == null ? {} : { brings: node.brings }),
    ...(node.ended_by_stop === true ? { ended_by_stop: true } : {}),
  };
}

/** Whether a node's failure is its time-out. */
export function isTimedOut(errorCode: string | null): boolean {
  return errorCode === 'NODE_TIMED_OUT';
}
