/**
 * What a plan can move at most, as the contract says it and without care for speed: every
 * combination of ways out of nodes is tried. It imports no rule of the product.
 */
import { add, compare } from './amounts.ts';

export interface ModelEdge {
  readonly from: string;
  readonly to: string;
  readonly edge_type: string;
  readonly priority: number;
}

/** A node that draws. */
export interface ModelDraw {
  readonly node_key: string;
  /** What it (still) draws; null: unknown, which is more than anything. */
  readonly amount: string | null;
}

export interface ModelNode {
  readonly node_key: string;
  readonly sends: boolean;
  readonly asset: string;
  readonly config: Readonly<Record<string, unknown>>;
}

const WAY: Readonly<Record<string, string>> = {
  on_success: 'success',
  on_manual_resume: 'success',
  on_failure: 'failure',
  on_timeout: 'timeout',
};

/**
 * What each node spends of whom: the key of the sending node that it passes on from, null where it
 * draws; sending nodes only.
 */
export function sourcesOf(
  nodes: readonly ModelNode[],
  edges: readonly ModelEdge[],
): ReadonlyMap<string, string | null> {
  const byKey = new Map(nodes.map((node) => [node.node_key, node]));
  const before = ancestors(nodes, edges);
  const isSource = (key: unknown, of: ModelNode): key is string =>
    typeof key === 'string' &&
    key !== of.node_key &&
    byKey.get(key)?.sends === true &&
    byKey.get(key)?.asset === of.asset;
  const sourceOf = (node: ModelNode): string | null => {
    const [, named = null] =
      /^nodes\.(.+)\.output\.\w+$/.exec(String(node.config['amount_ref'])) ?? [];
    if (named === null || before.get(node.node_key)?.has(named) !== true) return null;
    if (isSource(named, node)) return named;
    const other = byKey.get(named);
    const match = other?.sends === false ? other.config['match_from'] : undefined;
    return isSource(match, node) ? match : null;
  };
  return new Map(nodes.filter(({ sends }) => sends).map((node) => [node.node_key, sourceOf(node)]));
}

/**
 * The dearest of what may be drawn: over every choice of one way out of each node whose ways
 * exclude each other, the sum of the draws that no other way has to be taken for. `states` closes
 * the ways that a node's outcome has closed.
 */
export function dearestDraw(
  draws: readonly ModelDraw[],
  nodes: readonly Pick<ModelNode, 'node_key'>[],
  edges: readonly ModelEdge[],
  states: ReadonlyMap<string, string> = new Map(),
): string | null {
  const needs = neededWays(nodes, edges);
  const drawn = draws.map(({ node_key, amount }) => ({
    amount,
    needs: new Set([...(needs.get(node_key) ?? []), way(node_key, 'success')]),
  }));
  const forks = forksOf(drawn.map((each) => each.needs));
  let most: string | null = '0';
  for (const taken of choices(
    forks.map(({ node_key, ways }) => ways.filter((each) => !isClosed(each, states.get(node_key)))),
  )) {
    const closed = new Set(
      forks.flatMap(({ ways }) => ways).filter((each) => !taken.includes(each)),
    );
    const possible = drawn.filter((each) => [...each.needs].every((need) => !closed.has(need)));
    const sum = possible.reduce<string | null>(
      (total, { amount }) => (total === null || amount === null ? null : add(total, amount)),
      '0',
    );
    if (sum === null || most === null) return null;
    if (compare(sum, most) > 0) most = sum;
  }
  return most;
}

const way = (node_key: string, name: string): string => JSON.stringify([node_key, name]);

/** The ways that every path to a node takes. */
function neededWays(
  nodes: readonly Pick<ModelNode, 'node_key'>[],
  edges: readonly ModelEdge[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const needs = new Map<string, ReadonlySet<string>>();
  const of = (key: string): ReadonlySet<string> => {
    const known = needs.get(key);
    if (known !== undefined) return known;
    const paths = edges
      .filter(({ to }) => to === key)
      .map((edge) => {
        const outcome = WAY[edge.edge_type];
        const own =
          outcome === undefined
            ? []
            : [way(edge.from, outcome), way(edge.from, `${edge.edge_type} ${edge.priority}`)];
        return new Set([...of(edge.from), ...own]);
      });
    const [first = new Set<string>(), ...others] = paths;
    const shared = new Set([...first].filter((each) => others.every((other) => other.has(each))));
    needs.set(key, shared);
    return shared;
  };
  for (const { node_key } of nodes) of(node_key);
  return needs;
}

interface Fork {
  readonly node_key: string;
  readonly ways: string[];
}

/**
 * The ways that exclude each other, of those that draws need. What nothing excludes is no fork: its
 * nodes count until they have ended.
 */
function forksOf(needs: readonly ReadonlySet<string>[]): readonly Fork[] {
  const forks = new Map<string, Fork>();
  for (const each of new Set(needs.flatMap((set) => [...set]))) {
    const [node_key, name] = JSON.parse(each) as [string, string];
    const kind = way(node_key, name.includes(' ') ? (name.split(' ')[0] ?? '') : 'outcome');
    const fork = forks.get(kind) ?? { node_key, ways: [] };
    fork.ways.push(each);
    forks.set(kind, fork);
  }
  return [...forks.values()].filter(
    ({ ways }) =>
      ways.length > 1 ||
      ways.some((each) => each.endsWith('"failure"]') || each.endsWith('"timeout"]')),
  );
}

/** A way that the node's outcome has closed. */
function isClosed(each: string, state: string | undefined): boolean {
  if (state === 'COMPLETED') return each.endsWith('"failure"]') || each.endsWith('"timeout"]');
  return state === 'FAILED' && each.endsWith('"success"]');
}

function choices(forks: readonly (readonly string[])[]): readonly (readonly string[])[] {
  let all: readonly (readonly string[])[] = [[]];
  for (const ways of forks)
    if (ways.length > 0) all = all.flatMap((taken) => ways.map((each) => [...taken, each]));
  return all;
}

function ancestors(
  nodes: readonly ModelNode[],
  edges: readonly ModelEdge[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const of = (key: string): ReadonlySet<string> =>
    new Set(edges.filter(({ to }) => to === key).flatMap(({ from }) => [from, ...of(from)]));
  return new Map(nodes.map(({ node_key }) => [node_key, of(node_key)]));
}
