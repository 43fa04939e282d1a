/** Draws a movement's graph as text: one line for each edge, solid for an edge that fired. */

export interface Graph {
  readonly nodes: readonly { readonly node_key: string; readonly state: string }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly edge_type: string;
    /** `pending`, `fired` or `dead`; null when it is unknown which of several edges fired. */
    readonly status: string | null;
  }[];
}

/** Returns one line for each edge, then one line for each node without edges. */
export function drawGraph({ nodes, edges }: Graph): readonly string[] {
  const states = new Map(nodes.map(({ node_key, state }) => [node_key, `${node_key} ${state}`]));
  const named = (key: string): string => states.get(key) ?? key;
  const from = Math.max(0, ...edges.map((edge) => named(edge.from).length));
  const type = Math.max(0, ...edges.map((edge) => edge.edge_type.length));
  const drawn = edges.map((edge) => {
    const stroke = edge.status === 'fired' ? '─' : '┄';
    const line = `${stroke.repeat(2)} ${edge.edge_type} `.padEnd(type + 5, stroke);
    return `${named(edge.from).padEnd(from)} ${line}▶ ${named(edge.to)}`;
  });
  const touched = new Set(edges.flatMap((edge) => [edge.from, edge.to]));
  const alone = nodes.filter(({ node_key }) => !touched.has(node_key));
  return [...drawn, ...alone.map(({ node_key }) => named(node_key))];
}
