/** Functions that follow the edges of a plan's graph. They need only the two ends of each edge. */
interface Way {
  readonly from: string;
  readonly to: string;
}

/** Groups edges by a key of each edge, such as one of its ends; each group is in plan order. */
export function groupBy<E, K>(edges: readonly E[], keyOf: (edge: E) => K): Map<K, E[]> {
  const groups = new Map<K, E[]>();
  for (const edge of edges) {
    const key = keyOf(edge);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [edge]);
    else group.push(edge);
  }
  return groups;
}

/** Returns all nodes on some path into `key`, without `key` itself. */
export function ancestorsOf(
  graph: { readonly edges: readonly Way[] },
  key: string,
): ReadonlySet<string> {
  const into = groupBy(graph.edges, (edge) => edge.to);
  const found = new Set<string>();
  const queue = [key];
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const { from } of into.get(at) ?? []) {
      if (found.has(from)) continue;
      found.add(from);
      queue.push(from);
    }
  }
  return found;
}

/** Returns all nodes on some path that begins at one of `starts`, including `starts`. */
export function reachableFrom(
  edges: readonly Way[],
  starts: readonly string[],
): ReadonlySet<string> {
  const out = groupBy(edges, (edge) => edge.from);
  const found = new Set(starts);
  // A Set iterates in insertion order and includes items that are added during the loop.
  for (const key of found) for (const { to } of out.get(key) ?? []) found.add(to);
  return found;
}

/**
 * Returns every node after all nodes that lead to it. Nodes of a cycle, which no valid plan has,
 * come last.
 */
export function inOrder(
  keys: readonly string[],
  out: ReadonlyMap<string, readonly Way[]>,
): readonly string[] {
  const open = new Map(keys.map((key) => [key, 0]));
  for (const edges of out.values())
    for (const { to } of edges) open.set(to, (open.get(to) ?? 0) + 1);
  const order = new Set(keys.filter((key) => open.get(key) === 0));
  for (const key of order) {
    for (const { to } of out.get(key) ?? []) {
      const left = (open.get(to) ?? 0) - 1;
      open.set(to, left);
      if (left === 0) order.add(to);
    }
  }
  for (const key of keys) order.add(key);
  return [...order];
}
