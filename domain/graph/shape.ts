/** Computes what kind of graph a plan is, and which nodes it starts with. */
import type { Graph, GraphEdge, GraphShape } from './types.ts';

/**
 * Returns the shape of a graph: `linear` has neither fork nor join; `branching` a fork by edge type
 * or condition; `split` a fork of edges that fire together; `merging` a join. A graph with more
 * than one of these traits is `hybrid`.
 */
export function graphShape(graph: Graph): GraphShape {
  const traits = new Set<GraphShape>();
  for (const node of graph.nodes) {
    const out = graph.edges.filter((edge) => edge.from === node.node_key);
    if (out.length > 1) for (const trait of forkTraits(out)) traits.add(trait);
    if (graph.edges.filter((edge) => edge.to === node.node_key).length > 1) traits.add('merging');
  }
  const [only] = traits;
  if (only === undefined) return 'linear';
  return traits.size === 1 ? only : 'hybrid';
}

/**
 * Returns the traits of one fork. Two unconditional on_success edges of equal priority make a
 * split; any other outgoing edge makes a branch.
 */
function forkTraits(out: readonly GraphEdge[]): GraphShape[] {
  const together = new Map<number, number>();
  for (const edge of out) {
    if (edge.edge_type !== 'on_success' || edge.condition_expr !== null) continue;
    together.set(edge.priority, (together.get(edge.priority) ?? 0) + 1);
  }
  const largest = Math.max(0, ...together.values());
  if (largest < 2) return ['branching'];
  return out.length > largest ? ['split', 'branching'] : ['split'];
}

/** Returns the nodes that a movement starts with: those that no edge of any type leads to. */
export function rootNodes(graph: {
  readonly nodes: readonly { readonly node_key: string }[];
  readonly edges: readonly { readonly to: string }[];
}): readonly string[] {
  const targets = new Set(graph.edges.map((edge) => edge.to));
  return graph.nodes.map((node) => node.node_key).filter((key) => !targets.has(key));
}
