/**
 * A bridge transfer has two legs: the first sends on the source chain, and the second completes the
 * transfer on the destination chain. Between them the funds are in transit and may still arrive,
 * whatever else the plan does.
 */
import { specOf } from '../actions/built-in.ts';
import { LANES, type CrossingSpec, type LanePaths } from '../actions/spec.ts';
import { reachableFrom } from '../graph/paths.ts';
import { rootNodes } from '../graph/shape.ts';
import type { EdgeType, GraphEdge } from '../graph/types.ts';
import type { TemplateNode } from './types.ts';

type Leg = Pick<TemplateNode, 'node_key' | 'action_type' | 'config'>;

interface Graph<N extends Leg> {
  readonly nodes: readonly N[];
  readonly edges: readonly GraphEdge[];
}

/** Returns the crossing of a first leg's action type; undefined for other types. */
function firstOf(actionType: string): Extract<CrossingSpec, { readonly leg: 1 }> | undefined {
  const { crossing } = specOf(actionType);
  return crossing?.leg === 1 ? crossing : undefined;
}

function secondOf(actionType: string): Extract<CrossingSpec, { readonly leg: 2 }> | undefined {
  const { crossing } = specOf(actionType);
  return crossing?.leg === 2 ? crossing : undefined;
}

/**
 * Returns which leg (1 or 2) of a bridge transfer with such paths the action type is; null for
 * other types.
 */
export function legOn(paths: LanePaths, actionType: string): 1 | 2 | null {
  const { crossing } = specOf(actionType);
  return crossing !== null && LANES[crossing.lane].paths === paths ? crossing.leg : null;
}

/**
 * Returns the key of the first leg whose transfer this node completes; null if it is no second leg.
 */
export function firstLegOf({ action_type, config }: Omit<Leg, 'node_key'>): string | null {
  const second = secondOf(action_type);
  const named = second === undefined ? undefined : config?.[second.names];
  return typeof named === 'string' ? named : null;
}

/** Returns the config field that names a second leg's first leg; undefined for other nodes. */
export function firstLegField({ action_type }: Pick<Leg, 'action_type'>): string | undefined {
  return secondOf(action_type)?.names;
}

/** Returns a first leg's output fields that its second leg needs; empty for other types. */
export function recordsOf(actionType: string): readonly string[] {
  return firstOf(actionType)?.records ?? [];
}

/** Returns the first leg that a second leg names, of any action type; undefined for other nodes. */
export function namedFirstLeg<N extends Leg>(node: Leg, nodes: readonly N[]): N | undefined {
  const named = firstLegOf(node);
  return nodes.find(({ node_key }) => node_key === named);
}

/** Returns the second legs that complete the transfer that this node sends. */
export function secondLegsOf<N extends Leg>(first: Leg, nodes: readonly N[]): readonly N[] {
  const lane = firstOf(first.action_type)?.lane;
  return nodes.filter(
    (node) => secondOf(node.action_type)?.lane === lane && firstLegOf(node) === first.node_key,
  );
}

const ONWARD: readonly EdgeType[] = ['on_success', 'on_manual_resume'];
/** A cancel undoes completed sends, so on_cancel edges fire from COMPLETED nodes only. */
const AFTER_SUCCESS: readonly EdgeType[] = [...ONWARD, 'on_cancel'];
const AFTER_FAILURE: readonly EdgeType[] = ['on_failure', 'on_timeout'];

/**
 * Returns the edges that may fire before the bridge has delivered: all but those after the second
 * leg's success.
 */
function unbrought(first: Leg, { nodes, edges }: Graph<Leg>): readonly GraphEdge[] {
  const seconds = keysOf(secondLegsOf(first, nodes));
  return edges.filter(
    ({ from, edge_type }) => !(seconds.has(from) && AFTER_SUCCESS.includes(edge_type)),
  );
}

/**
 * Returns whether a node may spend what `source` has sent. Without a bridge: always. Over a bridge:
 * only if every path to the node passes the success of the second leg; paths around the first leg
 * count too, since a join continues with the funds that have arrived. A mint that delivered nothing
 * is no source; the last check before a send makes sure of this.
 */
export function mayCountOn(source: Leg, node: Leg, plan: Graph<Leg>): boolean {
  const first =
    firstOf(source.action_type) === undefined ? namedFirstLeg(source, plan.nodes) : source;
  if (first === undefined || keysOf(secondLegsOf(first, plan.nodes)).has(node.node_key))
    return true;
  const starts = first === source ? [source.node_key, ...rootNodes(plan)] : [source.node_key];
  return !reachableFrom(unbrought(first, plan), starts).has(node.node_key);
}

/**
 * Returns the edges by which a plan pays, without an operator's decision, when a node between the
 * two legs has failed or is late although the funds may still arrive. The first leg's own failure
 * is not included, since a FAILED leg has sent nothing; nor is a cancel, which an operator
 * requested.
 */
export function payingUnbrought(
  first: Leg,
  plan: Graph<Leg & Pick<TemplateNode, 'node_kind'>>,
): readonly { readonly reason: string; readonly edge: GraphEdge }[] {
  const crossing = firstOf(first.action_type);
  if (crossing === undefined) return [];
  const edges = unbrought(first, plan);
  const seconds = keysOf(secondLegsOf(first, plan.nodes));
  const onward = edges.filter(({ edge_type }) => ONWARD.includes(edge_type));
  const between = reachableFrom(onward, [first.node_key]);
  const pays = leadingToPay(plan.nodes, edges, seconds);
  return edges
    .filter(
      ({ from, to, edge_type }) =>
        AFTER_FAILURE.includes(edge_type) &&
        from !== first.node_key &&
        (between.has(from) || seconds.has(from)) &&
        pays.has(to),
    )
    .map((edge) => ({ reason: crossing.unbrought, edge }));
}

/**
 * Returns the nodes that send, and the nodes that lead to a sending node with no manual gate
 * between.
 */
function leadingToPay(
  nodes: readonly (Leg & Pick<TemplateNode, 'node_kind'>)[],
  edges: readonly GraphEdge[],
  seconds: ReadonlySet<string>,
): ReadonlySet<string> {
  const asks = keysOf(nodes.filter(({ node_kind }) => node_kind === 'manual_gate'));
  // A second leg completes the payment of its first leg, so it is not a second payment.
  const paying = nodes.filter(
    ({ node_key, node_kind, action_type }) =>
      !asks.has(node_key) &&
      !seconds.has(node_key) &&
      node_kind !== 'observe' &&
      !specOf(action_type).idle,
  );
  const back = edges
    .filter(({ from }) => !asks.has(from))
    .map(({ from, to }) => ({ from: to, to: from }));
  return reachableFrom(back, [...keysOf(paying)]);
}

function keysOf(nodes: readonly Pick<Leg, 'node_key'>[]): ReadonlySet<string> {
  return new Set(nodes.map(({ node_key }) => node_key));
}
