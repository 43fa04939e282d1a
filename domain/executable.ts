/**
 * Decides whether a valid graph can be run, and if not, why. Computed on every read, since a later
 * release may accept more graphs.
 */
import { specOf } from './actions/built-in.ts';
import type { PlanCheck } from './actions/spec.ts';
import { conditionProblem } from './conditions/check.ts';
import { isDecimal } from './money.ts';
import { edgeName, type GraphEdge } from './graph/types.ts';
import { ancestorsOf } from './graph/paths.ts';
import { parseAmountSource } from './plan/amount.ts';
import { namedFirstLeg, payingUnbrought, secondLegsOf, firstLegField } from './plan/legs.ts';
import type { TemplateNode } from './plan/types.ts';

interface Plan {
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly GraphEdge[];
}

/** Returns the reasons as `<code>:<node_key or from->to>`; empty means executable. */
export function nonExecutableReasons(plan: Plan): readonly string[] {
  const steps = judgeInSteps(plan);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Computes the same reasons, but yields after each node or edge: a thousand conditions take long
 * enough to delay other requests.
 */
export function* judgeInSteps(plan: Plan): Generator<undefined, readonly string[]> {
  // Two nodes may share edges of several types; the Set reports their reason once.
  const reasons = new Set<string>();
  const add = (more: readonly string[]): void => more.forEach((reason) => reasons.add(reason));
  for (const node of plan.nodes) yield void add(nodeReasons(node, plan));
  for (const edge of plan.edges) yield void add(edgeReasons(edge, plan));
  for (const node of plan.nodes) yield void add(legReasons(node, plan));
  return [...reasons];
}

function nodeReasons(node: TemplateNode, plan: Plan): string[] {
  const reasons: string[] = [];
  if (specOf(node.action_type).signs !== null && node.signer_selector === undefined)
    reasons.push(`signer_selector_missing:${node.node_key}`);
  // Rules for a node, such as those of the allowlist, are chosen by its action type. So the
  // selector must not bind an executor for another action type.
  if ((node.executor_selector?.action_type ?? node.action_type) !== node.action_type) {
    reasons.push(`selector_action_mismatch:${node.node_key}`);
  }
  if (node.node_kind === 'manual_gate' && node.has_side_effect)
    reasons.push(`gate_with_side_effect:${node.node_key}`);
  const source = parseAmountSource(node.config ?? {});
  const known =
    source.kind === 'amount'
      ? isDecimal(source.amount)
      : source.kind === 'node'
        ? ancestorsOf(plan, node.node_key).has(source.node_key)
        : source.kind !== 'invalid';
  // If the config also has its own amount, `amount_ref` still decides what is passed on, so it is
  // checked too.
  const ref = parseAmountSource({ amount_ref: node.config?.['amount_ref'] ?? 'intent' });
  const refKnown =
    ref.kind === 'intent' ||
    (ref.kind === 'node' && ancestorsOf(plan, node.node_key).has(ref.node_key));
  if (!known || !refKnown) reasons.push(`unknown_amount_ref:${node.node_key}`);
  const match = node.config?.['match_from'];
  if (
    match !== undefined &&
    !(typeof match === 'string' && ancestorsOf(plan, node.node_key).has(match))
  ) {
    reasons.push(`unknown_match_from:${node.node_key}`);
  }
  reasons.push(...specOf(node.action_type).checks.flatMap((check) => CHECKS[check](node, plan)));
  return reasons;
}

/** Implements the rules that the spec of an action type names. */
const CHECKS: Readonly<Record<PlanCheck, (node: TemplateNode, plan: Plan) => string[]>> = {
  /**
   * If only one account may mint the burn, the funds are lost unless the plan itself contains that
   * mint.
   */
  caller_has_second_leg: (node, { nodes }) => {
    if (node.config?.['destination_caller'] === undefined) return [];
    return secondLegsOf(node, nodes).length > 0 ? [] : [`caller_without_mint:${node.node_key}`];
  },
  /**
   * The node completes or observes a bridge transfer, so the node that sends it must be an
   * ancestor.
   */
  first_leg_known: (node, plan) => {
    const first = namedFirstLeg(node, plan.nodes);
    const known =
      first !== undefined &&
      secondLegsOf(first, [node]).length > 0 &&
      ancestorsOf(plan, node.node_key).has(first.node_key);
    return known ? [] : [`unknown_${String(firstLegField(node))}:${node.node_key}`];
  },
  /** A mint receives exactly the burnt amount, so it must not set an amount. */
  amount_of_first_leg: ({ node_key, config: { amount, amount_ref: ref } = {} }) =>
    amount === undefined && ref === undefined ? [] : [`mint_with_amount:${node_key}`],
  /** A time-out would report funds that are still on their way as not arrived. */
  no_time_out: ({ node_key, timeout_policy: { observe_seconds, execution_seconds } = {} }) =>
    observe_seconds === undefined && execution_seconds === undefined
      ? []
      : [`delivery_times_out:${node_key}`],
};

/**
 * Returns edges that pay when a bridge has not delivered. The bridge can still deliver later, so
 * only a person may decide to pay instead.
 */
function legReasons(node: TemplateNode, plan: Plan): string[] {
  return payingUnbrought(node, plan).map(({ reason, edge }) => `${reason}:${edgeName(edge)}`);
}

function edgeReasons(edge: GraphEdge, plan: Plan): string[] {
  const source = plan.nodes.find((node) => node.node_key === edge.from);
  const target = plan.nodes.find((node) => node.node_key === edge.to);
  const reasons: string[] = [];
  const timeouts = source?.timeout_policy;
  if (
    edge.edge_type === 'on_timeout' &&
    timeouts?.execution_seconds === undefined &&
    timeouts?.observe_seconds === undefined
  ) {
    reasons.push(`timeout_edge_without_timeout:${edgeName(edge)}`);
  }
  if (
    target?.node_kind === 'compensation' &&
    (edge.edge_type === 'on_success' || edge.edge_type === 'on_manual_resume')
  ) {
    reasons.push(`compensation_on_success_path:${edgeName(edge)}`);
  }
  if (conditionProblem(edge, plan) !== null) reasons.push(`condition_invalid:${edgeName(edge)}`);
  return reasons;
}
