/**
 * Bridges cross in two legs. What a first leg has sent is on its way until a second leg of it has
 * brought it: until then anybody may still bring it, whatever else a plan does.
 */
import { reachableFrom } from '../graph/paths.ts';
import { rootNodes } from '../graph/shape.ts';
import type { EdgeType, GraphEdge } from '../graph/types.ts';
import { isIdle } from './actions.ts';
import type { TemplateNode } from './types.ts';

interface Lane {
  readonly first: string;
  readonly second: string;
  /** The field by which the second leg names the first. */
  readonly names: string;
  /** What of the first leg's output the second goes by: without any of it, it brings nothing. */
  readonly records: readonly string[];
  /** What is said of an edge that pays although nothing says that it was brought. */
  readonly reason: string;
}

const LANES: readonly Lane[] = [
  {
    ...{ first: 'cctp_burn', second: 'cctp_mint', names: 'burn_from' },
    records: [
      ...['message', 'attested_message', 'attestation', 'submitted_amount'],
      ...['source_chain_id', 'destination_chain_id', 'mint_recipient'],
    ],
    reason: 'mint_failure_pays',
  },
  {
    ...{ first: 'bridge_c_send', second: 'bridge_c_observe', names: 'match_from' },
    records: ['packet', 'destination_chain_id', 'destination_address'],
    reason: 'delivery_failure_pays',
  },
];

type Leg = Pick<TemplateNode, 'node_key' | 'action_type' | 'config'>;

interface Graph<N extends Leg> {
  readonly nodes: readonly N[];
  readonly edges: readonly GraphEdge[];
}

const laneOf = ({ action_type }: Leg): Lane | undefined =>
  LANES.find(({ first }) => first === action_type);

/** The key of the node whose funds this one brings; null for anything but a second leg. */
export function firstLegOf({ action_type, config }: Omit<Leg, 'node_key'>): string | null {
  const lane = LANES.find(({ second }) => second === action_type);
  const named = lane === undefined ? undefined : config?.[lane.names];
  return typeof named === 'string' ? named : null;
}

/** The fields of its output by which its second leg goes; none for anything but a first leg. */
export function recordsOf(actionType: string): readonly string[] {
  return LANES.find(({ first }) => first === actionType)?.records ?? [];
}

/** Of a second leg the first that it names, whatever that is; undefined for other nodes. */
export function namedFirstLeg<N extends Leg>(node: Leg, nodes: readonly N[]): N | undefined {
  const named = firstLegOf(node);
  return nodes.find(({ node_key }) => node_key === named);
}

/** The nodes that bring what this one sends. */
export function secondLegsOf<N extends Leg>(first: Leg, nodes: readonly N[]): readonly N[] {
  const lane = laneOf(first);
  return nodes.filter(
    ({ action_type, config }) =>
      action_type === lane?.second && config?.[lane.names] === first.node_key,
  );
}

const ONWARD: readonly EdgeType[] = ['on_success', 'on_manual_resume'];
/** A cancel undoes what has landed: its edges leave a node that is COMPLETED, and no other. */
const AFTER_SUCCESS: readonly EdgeType[] = [...ONWARD, 'on_cancel'];
const AFTER_FAILURE: readonly EdgeType[] = ['on_failure', 'on_timeout'];

/** The edges that nothing has to have been brought for: all but those behind its success. */
function unbrought(first: Leg, { nodes, edges }: Graph<Leg>): readonly GraphEdge[] {
  const seconds = keysOf(secondLegsOf(first, nodes));
  return edges.filter(
    ({ from, edge_type }) => !(seconds.has(from) && AFTER_SUCCESS.includes(edge_type)),
  );
}

/**
 * Whether a node may spend what another has sent: anything else has it at once, while what crosses
 * a bridge has to have been brought, whichever way led to the node. Ways around the first leg count
 * too: a join goes on with what has come. A mint that has brought nothing is nobody's source, which
 * the fence sees to; here it only tells what is paid in its place.
 */
export function mayCountOn(source: Leg, node: Leg, plan: Graph<Leg>): boolean {
  const first = laneOf(source) === undefined ? namedFirstLeg(source, plan.nodes) : source;
  if (first === undefined || keysOf(secondLegsOf(first, plan.nodes)).has(node.node_key))
    return true;
  const starts = first === source ? [source.node_key, ...rootNodes(plan)] : [source.node_key];
  return !reachableFrom(unbrought(first, plan), starts).has(node.node_key);
}

/**
 * The edges by which a plan pays without a person where something between the two legs has failed
 * or is late: what was sent may come all the same. The first leg's own are not among them, since
 * FAILED it has sent nothing; nor is a cancel, which a person asked for.
 */
export function payingUnbrought(
  first: Leg,
  plan: Graph<Leg & Pick<TemplateNode, 'node_kind'>>,
): readonly { readonly reason: string; readonly edge: GraphEdge }[] {
  const lane = laneOf(first);
  if (lane === undefined) return [];
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
    .map((edge) => ({ reason: lane.reason, edge }));
}

/** The nodes that send, or lead to one that does, before a person was asked. */
function leadingToPay(
  nodes: readonly (Leg & Pick<TemplateNode, 'node_kind'>)[],
  edges: readonly GraphEdge[],
  seconds: ReadonlySet<string>,
): ReadonlySet<string> {
  const asks = keysOf(nodes.filter(({ node_kind }) => node_kind === 'manual_gate'));
  // What a second leg brings is not paid a second time.
  const paying = nodes.filter(
    ({ node_key, node_kind, action_type }) =>
      !asks.has(node_key) &&
      !seconds.has(node_key) &&
      node_kind !== 'observe' &&
      !isIdle(action_type),
  );
  const back = edges
    .filter(({ from }) => !asks.has(from))
    .map(({ from, to }) => ({ from: to, to: from }));
  return reachableFrom(back, [...keysOf(paying)]);
}

function keysOf(nodes: readonly Pick<Leg, 'node_key'>[]): ReadonlySet<string> {
  return new Set(nodes.map(({ node_key }) => node_key));
}
