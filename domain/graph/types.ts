/** The parts of a plan that the graph rules read. */
export const NODE_KINDS = [
  'action',
  'observe',
  'manual_gate',
  'compensation',
  'post_action',
] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

export const EDGE_TYPES = [
  'on_success',
  'on_failure',
  'on_timeout',
  'on_cancel',
  'on_manual_resume',
] as const;
export type EdgeType = (typeof EDGE_TYPES)[number];

export const GRAPH_SHAPES = ['linear', 'branching', 'merging', 'split', 'hybrid'] as const;
export type GraphShape = (typeof GRAPH_SHAPES)[number];

export interface GraphNode {
  readonly node_key: string;
  readonly node_kind: NodeKind;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly edge_type: EdgeType;
  readonly priority: number;
  readonly join_key: string | null;
  readonly condition_expr: string | null;
}

export interface Graph<N extends GraphNode = GraphNode, E extends GraphEdge = GraphEdge> {
  readonly nodes: readonly N[];
  readonly edges: readonly E[];
}

/** Returns the name of an edge for reasons and messages. */
export function edgeName(edge: Pick<GraphEdge, 'from' | 'to'>): string {
  return `${edge.from}->${edge.to}`;
}
