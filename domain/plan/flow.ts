/**
 * The most that a plan can move. A sending node either *draws* funds from a pool, or *passes on*
 * what an earlier node sent; only draws add up. Limits, holds, budgets, previews and approvers all
 * use this computation and no other (docs/decisions/0025-what-is-approved.md).
 */
import { specOf } from '../actions/built-in.ts';
import { ancestorsOf, groupBy, inOrder, reachableFrom } from '../graph/paths.ts';
import { rootNodes } from '../graph/shape.ts';
import type { EdgeType, GraphEdge } from '../graph/types.ts';
import { add, compare, subtract } from '../money.ts';
import { maxAmount, parseAmountSource, resolveAmount } from './amount.ts';
import type { NodeState } from '../states/node.ts';
import { kept } from './kept.ts';
import { firstLegOf, mayCountOn } from './legs.ts';
import type { CompiledNode, CompiledPlan, OutflowEntry } from './types.ts';

/** The funds that one sending node moves. */
export interface NodeFlow {
  readonly asset: string;
  /** The largest amount; null when only a node output decides it and no limit bounds it. */
  readonly amount: string | null;
  /** The key of the node whose funds this node passes on; null: this node draws. */
  readonly from: string | null;
}

/**
 * How draws (amounts that nodes take from pools) add up, as data that the database evaluates too
 * (`sum_of` in prisma/functions/flow.sql). A node's key stands for its draw; `one` for the largest
 * of several branches that exclude each other; `of` for the branches that the outcome of that node
 * leaves open.
 */
export type Term =
  | string
  | { readonly one: readonly (readonly Term[])[] }
  | {
      readonly of: string;
      readonly success: readonly Term[];
      readonly failure: readonly Term[];
      readonly timeout: readonly Term[];
    };

type PlanPart = Pick<CompiledPlan, 'nodes' | 'edges' | 'intent' | 'risk_controls'>;

/**
 * As {@link kept}, by the parts and not by the object that holds them: a create computes from the
 * parts of its plan first, and then from the plan. The intent is the key, since the plans of one
 * template share their other parts.
 */
function keptByParts<Result>(compute: (plan: PlanPart) => Result): (plan: PlanPart) => Result {
  const ofParts = kept(
    (
      intent: PlanPart['intent'],
      nodes: PlanPart['nodes'],
      edges: PlanPart['edges'],
      risk_controls: PlanPart['risk_controls'],
    ) => compute({ nodes, edges, intent, risk_controls }),
  );
  return ({ nodes, edges, intent, risk_controls }) => ofParts(intent, nodes, edges, risk_controls);
}

/** Returns the flow of every sending node of the plan, by node key. */
export const flowsOf = keptByParts((plan): ReadonlyMap<string, NodeFlow> => {
  const senders = new Map(
    plan.nodes.filter((node) => node.sends).map((node) => [node.node_key, node]),
  );
  const flows = new Map<string, NodeFlow>();
  for (const node of senders.values()) {
    flows.set(node.node_key, {
      asset: node.asset,
      amount: mostOf(node, plan),
      from: passedOn(node, plan, senders),
    });
  }
  return flows;
});

/**
 * Returns the amount if it is known. An amount from a node output counts as the node's
 * `max_amount`, which is in units of the intent's asset.
 */
function mostOf(node: CompiledNode, plan: PlanPart): string | null {
  if (specOf(node.action_type).allowance) return exceeding(node, plan);
  return wholeOf(node, plan);
}

function wholeOf(node: CompiledNode, plan: PlanPart): string | null {
  const known = resolveAmount(node.config, plan.intent.amount, () => null);
  if (known !== null || node.asset !== plan.intent.asset) return known;
  return maxAmount(plan.risk_controls, node.risk_patch);
}

/**
 * Returns how much an allowance counts as drawn: the part of it that later nodes do not surely
 * pull, because any contract may pull that part. An allowance itself moves nothing. If its amount
 * is a node output and a later node surely pulls the same output, the allowance draws nothing.
 */
function exceeding(node: CompiledNode, plan: PlanPart): string | null {
  const sure = surelyBehind(node.node_key, plan);
  const pulling = plan.nodes.filter(
    (other) => sure.has(other.node_key) && pullsBy(node, other, plan),
  );
  const { amount, amount_ref: ref } = node.config;
  if (amount === undefined && parseAmountSource(node.config).kind === 'node')
    if (
      pulling.some(({ config }) => config['amount'] === undefined && config['amount_ref'] === ref)
    )
      return '0';
  const allowed = wholeOf(node, plan);
  if (allowed === null) return null;
  const pulled = pulling
    .map(({ config }) => resolveAmount(config, plan.intent.amount, () => null) ?? '0')
    .reduce(add, '0');
  return compare(allowed, pulled) > 0 ? subtract(allowed, pulled) : '0';
}

/**
 * Returns the nodes that surely run after this node: behind it by unconditional on_success edges
 * alone, without an alternative edge.
 */
function surelyBehind(key: string, plan: PlanPart): ReadonlySet<string> {
  const found = new Set<string>([key]);
  for (const from of found) {
    const out = plan.edges.filter((edge) => edge.from === from && edge.edge_type === 'on_success');
    if (new Set(out.map(({ priority }) => priority)).size > 1) continue;
    for (const { to, condition_expr } of out) if (condition_expr === null) found.add(to);
  }
  found.delete(key);
  return found;
}

/** Returns whether a later node pulls this allowance: same signer, chain, token and spender. */
export function pullsBy(
  allowance: CompiledNode,
  other: CompiledNode,
  plan: Pick<CompiledPlan, 'edges'>,
): boolean {
  const { chain_id, token_address, spender } = allowance.config;
  return (
    other.pulled_by !== undefined &&
    isSame(other.pulled_by, spender) &&
    isSame(other.pulled_token ?? other.config['token_address'], token_address) &&
    other.config['source_chain_id'] === chain_id &&
    other.asset === allowance.asset &&
    other.signer_binding?.signer_key === allowance.signer_binding?.signer_key &&
    ancestorsOf(plan, other.node_key).has(allowance.node_key)
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return (
    typeof one === 'string' &&
    typeof other === 'string' &&
    one.toLowerCase() === other.toLowerCase()
  );
}

/**
 * Returns the node that sent what this node spends, named by the template's `amount_ref` (or
 * `burn_from`) and of the same asset; else null.
 */
function passedOn(
  node: CompiledNode,
  plan: PlanPart,
  senders: ReadonlyMap<string, CompiledNode>,
): string | null {
  const named = referredBy(node);
  if (named === null || !ancestorsOf(plan, node.node_key).has(named)) return null;
  const key = senders.has(named)
    ? named
    : matchOf(plan.nodes.find((each) => each.node_key === named));
  const source = key === null ? undefined : senders.get(key);
  if (source === undefined || source === node || source.asset !== node.asset) return null;
  return mayCountOn(source, node, plan) ? source.node_key : null;
}

function referredBy(node: CompiledNode): string | null {
  const first = specOf(node.action_type).amount === 'first_leg' ? firstLegOf(node) : null;
  if (first !== null) return first;
  const source = parseAmountSource({ amount_ref: node.config['amount_ref'] ?? 'intent' });
  return source.kind === 'node' ? source.node_key : null;
}

function matchOf(node: CompiledNode | undefined): string | null {
  const match = node === undefined || node.sends ? undefined : node.config['match_from'];
  return typeof match === 'string' ? match : null;
}

/**
 * Returns how the plan's draws add up: of branches that leave one node and exclude each other, the
 * largest counts; all else is added.
 */
export const drawTerms = keptByParts((plan): readonly Term[] => {
  const flows = flowsOf(plan);
  const drawing = new Set([...flows].flatMap(([key, { from }]) => (from === null ? [key] : [])));
  return new TermBuilder(plan, drawing).build(new Set(plan.nodes.map((node) => node.node_key)));
});

/** Returns the plan's outflow by asset: the sum of its draws. */
export function outflowOf(plan: PlanPart): readonly OutflowEntry[] {
  const flows = flowsOf(plan);
  const terms = drawTerms(plan);
  const drawn = [...flows.values()].filter(({ from }) => from === null);
  const assets = [...new Set(drawn.map(({ asset }) => asset))].sort();
  return assets.map((asset) => ({
    asset,
    amount: sumOf(terms, (key) => {
      const flow = flows.get(key);
      return flow === undefined || flow.asset !== asset ? '0' : flow.amount;
    }),
  }));
}

/**
 * Returns an asset's part of an outflow: '0' when the outflow does not name the asset, null when it
 * is unbounded.
 */
export function outflowIn(outflow: readonly OutflowEntry[], asset: string): string | null {
  const entry = outflow.find((each) => each.asset === asset);
  return entry === undefined ? '0' : entry.amount;
}

/**
 * Returns the amount that every limit compares, in the intent's asset: the larger of outflow and
 * intent; null when the outflow is unbounded.
 */
export function limitAmount({
  outflow,
  intent,
}: Pick<CompiledPlan, 'outflow' | 'intent'>): string | null {
  return dearest(outflowIn(outflow, intent.asset), intent.amount);
}

/**
 * Returns the sum of the terms, from what each node draws; null (unknown) is larger than any
 * amount. If states are passed, branches that the outcome of their node has closed count 0, as in
 * `sum_of` of prisma/functions/flow.sql.
 */
export function sumOf(
  terms: readonly Term[],
  valueOf: (nodeKey: string) => string | null,
  stateOf: (nodeKey: string) => NodeState | undefined = () => undefined,
): string | null {
  return terms.map((term) => valueOfTerm(term, valueOf, stateOf)).reduce<string | null>(plus, '0');
}

function valueOfTerm(
  term: Term,
  valueOf: (nodeKey: string) => string | null,
  stateOf: (nodeKey: string) => NodeState | undefined,
): string | null {
  if (typeof term === 'string') return valueOf(term);
  const state = 'one' in term ? undefined : stateOf(term.of);
  const ways =
    'one' in term
      ? term.one
      : [
          ...(state === 'FAILED' ? [] : [term.success]),
          ...(state === 'COMPLETED' ? [] : [term.failure, term.timeout]),
        ];
  return ways.map((way) => sumOf(way, valueOf, stateOf)).reduce<string | null>(dearest, '0');
}

function plus(a: string | null, b: string | null): string | null {
  return a === null || b === null ? null : add(a, b);
}

function dearest(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return null;
  return compare(a, b) >= 0 ? a : b;
}

const SUCCESS: readonly EdgeType[] = ['on_success', 'on_manual_resume'];

/**
 * Builds the terms. Nodes that are reachable only through one branch belong to it. Two such sets
 * are disjoint or one contains the other (both lie on every path to the nodes they share), so
 * branches nest, with outer nodes first.
 */
class TermBuilder {
  readonly #plan: PlanPart;
  readonly #drawing: ReadonlySet<string>;
  readonly #order: readonly string[];
  readonly #out: ReadonlyMap<string, readonly GraphEdge[]>;

  constructor(plan: PlanPart, drawing: ReadonlySet<string>) {
    this.#plan = plan;
    this.#drawing = drawing;
    this.#out = groupBy(plan.edges, (edge) => edge.from);
    this.#order = inOrder(
      plan.nodes.map(({ node_key }) => node_key),
      this.#out,
    );
  }

  /** Returns the terms of the nodes in `scope`. */
  build(scope: ReadonlySet<string>): readonly Term[] {
    const left = new Set(scope);
    const terms: Term[] = [];
    for (const key of this.#order) {
      if (!left.has(key)) continue;
      left.delete(key);
      terms.push(...this.#outcomes(key, left));
    }
    return terms;
  }

  /**
   * Returns a node's draw with the draws of all nodes that only its outcomes lead to; removes those
   * from `left`.
   */
  #outcomes(key: string, left: Set<string>): readonly Term[] {
    const own = this.#drawing.has(key) ? [key] : [];
    const out = this.#out.get(key) ?? [];
    const success = [...own, ...this.#way(out, SUCCESS, left)];
    const failure = this.#way(out, ['on_failure'], left);
    const timeout = this.#way(out, ['on_timeout'], left);
    if (failure.length === 0 && timeout.length === 0) return success;
    return [{ of: key, success, failure, timeout }];
  }

  #way(out: readonly GraphEdge[], types: readonly EdgeType[], left: Set<string>): readonly Term[] {
    const edges = out.filter((edge) => types.includes(edge.edge_type));
    const inside = this.#takeOnlyThrough(edges, left);
    if (inside.size === 0) return [];
    // Edges of one type and different priorities exclude each other; edges of different types do
    // not.
    const forks = types.flatMap((type) =>
      this.#fork(
        edges.filter((edge) => edge.edge_type === type),
        inside,
      ),
    );
    return [...forks, ...this.build(inside)];
  }

  #fork(edges: readonly GraphEdge[], inside: Set<string>): readonly Term[] {
    const priorities = [...new Set(edges.map((edge) => edge.priority))];
    if (priorities.length < 2) return [];
    const ways = priorities
      .map((priority) =>
        this.#takeOnlyThrough(
          edges.filter((edge) => edge.priority === priority),
          inside,
        ),
      )
      .map((way) => this.build(way))
      .filter((way) => way.length > 0);
    return ways.length === 0 ? [] : [{ one: ways }];
  }

  /** Removes from `left`, and returns, the nodes that all paths reach through these edges. */
  #takeOnlyThrough(edges: readonly GraphEdge[], left: Set<string>): Set<string> {
    if (edges.length === 0) return new Set();
    const others = this.#plan.edges.filter((edge) => !edges.includes(edge));
    const without = reachableFrom(others, rootNodes(this.#plan));
    const only = new Set([...left].filter((key) => !without.has(key)));
    for (const key of only) left.delete(key);
    return only;
  }
}
