/** A route: one template version as a path of funds. Like the version, it never changes. */
import { isSending, specOf } from '../actions/built-in.ts';
import type { RequirementSpec } from '../actions/spec.ts';
import type { JsonObject } from '../json.ts';
import type { GraphEdge, GraphShape } from '../graph/types.ts';
import type { ExecutorSelector, TemplateNode } from '../plan/types.ts';
import { bridgeLegs, type BridgeLeg } from './bridge-legs.ts';
import { fundRouteMetadata, type FundRouteMetadata } from './metadata.ts';

export const FEE_KEYS = ['expected_fee', 'max_fee_abs', 'max_fee_pct', 'max_fee_usd'] as const;
export const LIMIT_KEYS = ['max_amount', 'min_amount'] as const;

/** The template version that a route is made of. */
export interface FundRouteSource {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly name: string;
  readonly graph_shape: GraphShape;
  readonly risk_controls: JsonObject;
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly GraphEdge[];
}

export interface FundRoute {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly name: string;
  readonly graph_shape: GraphShape;
  readonly node_count: number;
  readonly executable: boolean;
  /** Movements of it are made through a route of its own only, so it is never recommended. */
  readonly reserved: boolean;
  /**
   * Whether any of its nodes pays. A team's own type counts as one that does: what its executor
   * declares is not part of the version. An allowance alone pays nothing.
   */
  readonly moves_funds: boolean;
  readonly metadata: FundRouteMetadata;
  /** The keys of risk_controls that are about fees, as they were registered. */
  readonly fee_policy: JsonObject;
  /** Only the two limits. */
  readonly risk_controls: JsonObject;
  /** What its nodes select, in their order. */
  readonly selectors: readonly ExecutorSelector[];
  /** Those that do the route's work: manual gates and noops only wait or do nothing. */
  readonly working_selectors: readonly ExecutorSelector[];
  /** Those whose sends require something beyond their plan. */
  readonly requiring_selectors: readonly {
    readonly kind: RequirementSpec['kind'];
    readonly selector: ExecutorSelector;
  }[];
  /** Where it crosses from one chain to another. */
  readonly bridge_legs: readonly BridgeLeg[];
}

/** Results of the movements of a version that ended in the present and the previous month. */
export interface FundRouteStats {
  readonly total_completed: number;
  readonly total_failed: number;
  readonly success_rate: number;
  /** From approval to completion; null while none has completed. */
  readonly avg_duration_seconds: number | null;
  readonly max_duration_seconds: number | null;
}

/** `executable`: whether the version may be run at all. */
export function toFundRoute(source: FundRouteSource, executable: boolean): FundRoute {
  const { template_id, template_key, version, name, graph_shape, nodes, edges } = source;
  const { risk_controls } = source;
  return {
    template_id,
    template_key,
    version,
    name,
    graph_shape,
    node_count: nodes.length,
    executable,
    reserved: nodes.some(({ action_type }) => specOf(action_type).reserved),
    moves_funds: nodes.some((node) => isSending(node, true) && !specOf(node.action_type).allowance),
    metadata: fundRouteMetadata(nodes),
    fee_policy: pick(risk_controls, FEE_KEYS),
    risk_controls: pick(risk_controls, LIMIT_KEYS),
    selectors: nodes.map(selectorOf),
    working_selectors: nodes
      .filter(
        ({ node_kind, action_type }) => node_kind !== 'manual_gate' && !specOf(action_type).idle,
      )
      .map(selectorOf),
    requiring_selectors: nodes.flatMap((node) => {
      const { requires } = specOf(node.action_type);
      return requires === null ? [] : [{ kind: requires.kind, selector: selectorOf(node) }];
    }),
    bridge_legs: bridgeLegs(nodes, edges, selectorOf),
  };
}

function selectorOf({ executor_selector, action_type }: TemplateNode): ExecutorSelector {
  return executor_selector ?? { action_type };
}

function pick(from: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
}
