/** The walk's input: a graph whose nodes have states and whose edges have condition results. */
import type { MovementState } from '../states/movement.ts';
import type { NodeState } from '../states/node.ts';
import type { GraphEdge, GraphNode } from './types.ts';

export interface WalkNode extends GraphNode {
  readonly state: NodeState;
  /** Whether the present attempt completed after an operator's resume. */
  readonly resumed: boolean;
  /** Whether the node FAILED by a time-out. */
  readonly timed_out: boolean;
  /**
   * Whether a stop (domain/send/stops.ts) ended the send, or a person abandoned it, so that the
   * node FAILED; that failure triggers no edge.
   */
  readonly ended_by_stop?: boolean;
  readonly error_code: string | null;
  /**
   * Orders failures: the first failure names the movement's error. Any increasing number; 0 when
   * the node is not settled.
   */
  readonly settled_order: number;
  /** For the second leg of a bridge transfer: the key of the first leg, which sent the funds. */
  readonly brings?: string | null;
}

export interface WalkEdge extends GraphEdge {
  /**
   * The stored result of the condition; null when the edge has no condition or its source is not
   * settled yet.
   */
  readonly condition: boolean | 'error' | null;
}

export interface WalkInput {
  readonly state: MovementState;
  readonly nodes: readonly WalkNode[];
  readonly edges: readonly WalkEdge[];
  /**
   * Set for a workflow history that was decided so: a second leg that no path leads to is skipped
   * although its funds are in transit. See `conduct` 5 in workflows/versions.ts.
   */
  readonly skips_legs?: boolean;
}

/** Returns the key of a node; used with `map`. */
export function keyOf(node: WalkNode): string {
  return node.node_key;
}
