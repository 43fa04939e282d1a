/** What the walk looks at: a graph whose nodes have states and whose edges have results. */
import type { MovementState } from '../states/movement.ts';
import type { NodeState } from '../states/node.ts';
import type { GraphEdge, GraphNode } from './types.ts';

export interface WalkNode extends GraphNode {
  readonly state: NodeState;
  /** Completed after an operator's resume in its present attempt. */
  readonly resumed: boolean;
  /** FAILED by time-out. */
  readonly timed_out: boolean;
  /** FAILED because a stop ended its send: no edge takes that failure. */
  readonly ended_by_stop?: boolean;
  readonly error_code: string | null;
  /**
   * Orders failures: the first one names the movement's error. Any monotone number, 0 when not
   * settled.
   */
  readonly settled_order: number;
  /** Of a bridge's second leg: the node whose funds it brings. */
  readonly brings?: string | null;
}

export interface WalkEdge extends GraphEdge {
  /**
   * The stored result of the condition; null where there is none or the source is not settled yet.
   */
  readonly condition: boolean | 'error' | null;
}

export interface WalkInput {
  readonly state: MovementState;
  readonly nodes: readonly WalkNode[];
  readonly edges: readonly WalkEdge[];
}

/** The key of a node, for mapping. */
export function keyOf(node: WalkNode): string {
  return node.node_key;
}
