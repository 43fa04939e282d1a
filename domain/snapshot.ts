/** A movement as input of the rules: plan, states and what the walk needs. */
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
  /** Whether the present attempt was accepted once; then "not found" proves nothing. */
  readonly accepted: boolean;
  /**
   * Whether the node comes from a restored database: until an operator resolves it, every new
   * attempt looks for an earlier send first.
   */
  readonly restored: boolean;
  readonly resumed: boolean;
  /**
   * Whether a person may resolve the node as completed (`may_be_resolved` in prisma/functions):
   * among others after an hour beyond its usual time.
   */
  readonly resolvable?: boolean;
  /** Whether the node, observed or UNKNOWN with its send under way, takes longer than usual. */
  readonly overdue?: boolean;
  /** Whether a stop (domain/send/stops.ts) or a person who abandoned it ended the node. */
  readonly ended_by_stop?: boolean;
  /** The amount that the node resolved when it started; null before. */
  readonly amount: string | null;
  readonly output: JsonObject | null;
  readonly error_code: string | null;
  /** Orders nodes by their last change; ISO 8601. */
  readonly updated_at: string;
  /** The present signer of the node; after a rotation it may differ from the plan's. */
  readonly signer_key: string | null;
  /** Milliseconds since 1970; 0 while the node is open. */
  readonly settled_order: number;
}

export interface MovementSnapshot {
  readonly movement_id: string;
  readonly state: MovementState;
  readonly reservation_status: ReservationStatus;
  readonly version: number;
  /** Absent in the snapshot of a movement that is about to be created. */
  readonly strategy_id?: string | null;
  /** Whether an operator has acknowledged the failure; a late landing has a mark of its own. */
  readonly acknowledged?: boolean;
  readonly plan: CompiledPlan;
  /** Stored results of conditions, by the edge's position in the plan. */
  readonly conditions: ConditionResults;
  readonly nodes: readonly NodeSnapshot[];
}

/** Returns the snapshot of a newly created movement of this plan. */
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

/** Returns the walk's input for a snapshot. */
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

/** Returns the walk's input for one node. */
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

/** Returns whether an error code means that the node timed out. */
export function isTimedOut(errorCode: string | null): boolean {
  return errorCode === 'NODE_TIMED_OUT';
}
