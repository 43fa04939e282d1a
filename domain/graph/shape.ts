/** What kind of graph a plan is, and which nodes it starts with. */
import type { Graph, GraphEdge, GraphShape } from './types.ts';

/**
 * `linear` has neither fork nor join. Of fork by type or condition (`branching`), fork of edges
 * that fire together (`split`) and join (`merging`), a graph with exactly one is named after it and
 * any mix is `hybrid`.
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
 * A fork splits when two unconditional on_success edges share a priority; any other way out is a
 * branch.
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

/** The nodes a movement starts with: those that no edge of any type leads to. */
export function rootNodes(graph: {
  readonly nodes: readonly { readonly node_key: string }[];
  readonly edges: readonly { readonly to: string }[];
}): readonly string[] {
  const targets = new Set(graph.edges.map((edge) => edge.to));
  return graph.nodes.map((node) => node.node_key).filter((key) => !targets.has(key));
}
