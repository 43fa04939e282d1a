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
  /** Whether the node FAILED because a stop ended its send; no edge takes that failure. */
  readonly ended_by_stop?: boolean;
  readonly error_code: string | null;
  /**
   * Orders failures: the first failure names the movement's error. Any increasing number; 0 when
   * the node is not settled.
   */
  readonly settled_order: number;
  /** For a bridge's second leg: the key of the node whose funds it brings. */
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
}

/** Returns the key of a node; used with `map`. */
export function keyOf(node: WalkNode): string {
  return node.node_key;
}
