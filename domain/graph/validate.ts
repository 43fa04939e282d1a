/** Validates nodes and edges as a plan. Every problem is reported, not only the first. */
import { edgeName, type Graph, type GraphEdge } from './types.ts';

export const GRAPH_PROBLEMS = [
  'empty_graph',
  'duplicate_node_key',
  'unknown_endpoint',
  'self_loop',
  'duplicate_edge',
  'cycle',
  'disconnected',
  'no_root',
] as const;
export type GraphProblemKind = (typeof GRAPH_PROBLEMS)[number];

export interface GraphProblem {
  readonly problem: GraphProblemKind;
  readonly node_key?: string;
  readonly edge?: string;
  /** For a cycle: the node keys on it, in order. */
  readonly node_keys?: readonly string[];
}

/** Returns all problems of a graph; an empty list means that the graph is valid. */
export function validateGraph(graph: Graph): readonly GraphProblem[] {
  if (graph.nodes.length === 0) return [{ problem: 'empty_graph' }];
  const keys = new Set(graph.nodes.map((node) => node.node_key));
  const sound = graph.edges.filter(
    (edge) => keys.has(edge.from) && keys.has(edge.to) && edge.from !== edge.to,
  );
  const cycles = findCycles([...keys], sound);
  return [
    ...duplicateNodes(graph),
    ...edgeProblems(graph.edges, keys),
    ...cycles,
    ...disconnected([...keys], sound),
    ...(hasRoot([...keys], sound) ? [] : [{ problem: 'no_root' } as const]),
  ];
}

function duplicateNodes(graph: Graph): GraphProblem[] {
  const seen = new Set<string>();
  const problems: GraphProblem[] = [];
  for (const { node_key } of graph.nodes) {
    if (seen.has(node_key)) problems.push({ problem: 'duplicate_node_key', node_key });
    seen.add(node_key);
  }
  return problems;
}

function edgeProblems(edges: readonly GraphEdge[], keys: ReadonlySet<string>): GraphProblem[] {
  const seen = new Set<string>();
  const problems: GraphProblem[] = [];
  for (const edge of edges) {
    const name = edgeName(edge);
    for (const end of [edge.from, edge.to]) {
      if (!keys.has(end)) problems.push({ problem: 'unknown_endpoint', node_key: end, edge: name });
    }
    if (edge.from === edge.to)
      problems.push({ problem: 'self_loop', node_key: edge.from, edge: name });
    const identity = JSON.stringify([edge.from, edge.to, edge.edge_type, edge.condition_expr]);
    if (seen.has(identity)) problems.push({ problem: 'duplicate_edge', edge: name });
    seen.add(identity);
  }
  return problems;
}

function hasRoot(keys: readonly string[], edges: readonly GraphEdge[]): boolean {
  const targets = new Set(edges.map((edge) => edge.to));
  return keys.some((key) => !targets.has(key));
}

function findCycles(keys: readonly string[], edges: readonly GraphEdge[]): GraphProblem[] {
  // Several edges between the same two nodes count as one step, so that each cycle is reported
  // once.
  const ways = new Map<string, Set<string>>(keys.map((key) => [key, new Set()]));
  for (const edge of edges) ways.get(edge.from)?.add(edge.to);
  const next = new Map([...ways].map(([key, targets]) => [key, [...targets]]));
  const done = new Set<string>();
  const problems: GraphProblem[] = [];
  // Uses an explicit stack, so that a deep plan cannot exhaust the call stack.
  for (const start of keys) {
    const path: { key: string; index: number }[] = done.has(start)
      ? []
      : [{ key: start, index: 0 }];
    const onPath = new Set(path.map((step) => step.key));
    while (path.length > 0) {
      const top = path[path.length - 1];
      if (top === undefined) break;
      const target = next.get(top.key)?.[top.index];
      top.index += 1;
      if (target === undefined) {
        done.add(top.key);
        onPath.delete(top.key);
        path.pop();
      } else if (onPath.has(target)) {
        const from = path.findIndex((step) => step.key === target);
        problems.push({ problem: 'cycle', node_keys: path.slice(from).map((step) => step.key) });
      } else if (!done.has(target)) {
        path.push({ key: target, index: 0 });
        onPath.add(target);
      }
    }
  }
  return problems;
}

function disconnected(keys: readonly string[], edges: readonly GraphEdge[]): GraphProblem[] {
  const neighbours = new Map<string, string[]>(keys.map((key) => [key, []]));
  for (const edge of edges) {
    neighbours.get(edge.from)?.push(edge.to);
    neighbours.get(edge.to)?.push(edge.from);
  }
  const [first] = keys;
  const reached = new Set<string>(first === undefined ? [] : [first]);
  const queue = [...reached];
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    for (const neighbour of neighbours.get(key) ?? []) {
      if (reached.has(neighbour)) continue;
      reached.add(neighbour);
      queue.push(neighbour);
    }
  }
  return keys
    .filter((key) => !reached.has(key))
    .map((node_key) => ({ problem: 'disconnected', node_key }) as const);
}
