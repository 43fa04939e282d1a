/**
 * The bridge legs of a plan: the nodes that cross from one chain to another. Like the plan's
 * version, they never change.
 */
import { specOf } from '../actions/built-in.ts';
import { LANES, type BridgeLane } from '../actions/spec.ts';
import { groupBy, inOrder, reachableFrom } from '../graph/paths.ts';
import { rootNodes } from '../graph/shape.ts';
import type { GraphEdge } from '../graph/types.ts';
import type { JsonValue } from '../json.ts';
import { readDecimal } from '../money.ts';
import { parseAmountSource } from '../plan/amount.ts';
import type { ExecutorSelector, TemplateNode } from '../plan/types.ts';

export const BURN_FINALITIES = ['fast', 'standard'] as const;
export type BurnFinality = (typeof BURN_FINALITIES)[number];

/** One crossing between chains. A field that the template leaves to the caller is null. */
export interface BridgeLeg {
  readonly node_key: string;
  readonly lane: BridgeLane;
  readonly source_chain_id: number | null;
  readonly destination_chain_id: number | null;
  /** In upper case; null: the leg uses the movement's asset. */
  readonly asset: string | null;
  /** The token that a burn-and-mint leg burns; null: the caller names it, or the bridge does. */
  readonly token_address: string | null;
  /** Whether the leg sends the amount of the movement. */
  readonly sends_intent: boolean;
  /** Finality of a burn-and-mint leg; null on another bridge. */
  readonly finality: BurnFinality | null;
  /**
   * The largest fee of a burn-and-mint leg, in units of the asset; null on another bridge, whose
   * fee is paid in the chain's native coin.
   */
  readonly max_fee: string | null;
  readonly selector: ExecutorSelector;
  /** Whether funds pass this leg when no node fails and no one cancels. */
  readonly on_the_way: boolean;
  /** Node keys of the legs that directly precede this leg. */
  readonly after: readonly string[];
}

const ONWARD: readonly string[] = ['on_success', 'on_manual_resume'];

/** Returns the bridge legs in the order in which funds pass them. */
export function bridgeLegs(
  nodes: readonly TemplateNode[],
  edges: readonly GraphEdge[],
  selectorOf: (node: TemplateNode) => ExecutorSelector,
): readonly BridgeLeg[] {
  const found = nodes.flatMap((node) => {
    const lane = laneOf(node.action_type);
    return lane === undefined ? [] : [{ node, lane }];
  });
  if (found.length === 0) return [];
  const onward = edges.filter(({ edge_type }) => ONWARD.includes(edge_type));
  const way = reachableFrom(onward, rootNodes({ nodes, edges }));
  const order = inOrder(
    nodes.map(({ node_key }) => node_key),
    groupBy(onward, ({ from }) => from),
  );
  const before = legsBefore(
    order,
    onward.filter(({ from }) => way.has(from)),
    new Set(found.map(({ node }) => node.node_key)),
  );
  const places = new Map(order.map((key, place) => [key, place]));
  const placeOf = ({ node_key }: TemplateNode): number => places.get(node_key) ?? 0;
  return found
    .sort((a, b) => placeOf(a.node) - placeOf(b.node))
    .map(({ node, lane }) => ({
      ...readLeg(node, lane),
      selector: selectorOf(node),
      on_the_way: way.has(node.node_key),
      after: [...(before.get(node.node_key) ?? [])],
    }));
}

function readLeg({ node_key, config = {} }: TemplateNode, lane: BridgeLane) {
  const { finality, max_fee = '0', asset, token_address: token } = config;
  const source_chain_id = chainId(config['source_chain_id']);
  const destination_chain_id = chainId(config['destination_chain_id']);
  // A template that leaves the chains to the caller also leaves the other fields to the caller, so
  // no default applies.
  const hasBothChains = source_chain_id !== null && destination_chain_id !== null;
  const burns = LANES[lane].paths === 'attested' && hasBothChains;
  return {
    node_key,
    lane,
    source_chain_id,
    destination_chain_id,
    asset: typeof asset === 'string' ? asset.toUpperCase() : null,
    token_address: burns && typeof token === 'string' ? token : null,
    sends_intent: parseAmountSource(config).kind === 'intent',
    finality: burns ? (finality === 'fast' ? ('fast' as const) : ('standard' as const)) : null,
    max_fee: burns ? readDecimal(max_fee) : null,
  };
}

/** Returns for each node the bridge legs that precede it with no other bridge leg between. */
function legsBefore(
  order: readonly string[],
  onward: readonly GraphEdge[],
  legs: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const out = groupBy(onward, ({ from }) => from);
  const before = new Map(order.map((key) => [key, new Set<string>()]));
  for (const key of order)
    for (const { to } of out.get(key) ?? [])
      for (const leg of legs.has(key) ? [key] : (before.get(key) ?? [])) before.get(to)?.add(leg);
  return before;
}

/**
 * Returns the bridge of a node that starts a crossing; undefined for any other node, also for one
 * that ends a crossing.
 */
function laneOf(actionType: string): BridgeLane | undefined {
  const { crossing } = specOf(actionType);
  return crossing?.leg === 1 ? crossing.lane : undefined;
}

function chainId(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
