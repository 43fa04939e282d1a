/** A route: one template version as a path of funds. Like the version, it never changes. */
import { isSending, specOf } from '../actions/built-in.ts';
import type { RequirementSpec } from '../actions/spec.ts';
import type { JsonObject } from '../json.ts';
import type { GraphEdge, GraphShape } from '../graph/types.ts';
import type { ExecutorSelector, SignerSelector, TemplateNode } from '../plan/types.ts';
import { bridgeLegs, type BridgeLeg } from './bridge-legs.ts';
import { fundRouteMetadata, type FundRouteMetadata } from './metadata.ts';

export const FEE_KEYS = ['expected_fee', 'max_fee_abs', 'max_fee_pct', 'max_fee_usd'] as const;
export const LIMIT_KEYS = ['max_amount', 'min_amount'] as const;

/** The template version that a route is made from. */
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
  /** Whether movements are created only by their own API route; then never recommended. */
  readonly reserved: boolean;
  /**
   * Whether any node of the route pays. A node of a team's own action type counts as paying,
   * because the version does not contain what its executor declares. An allowance alone pays
   * nothing.
   */
  readonly moves_funds: boolean;
  readonly metadata: FundRouteMetadata;
  /** The keys of risk_controls that concern fees, as they were registered. */
  readonly fee_policy: JsonObject;
  /** Only `max_amount` and `min_amount`. */
  readonly risk_controls: JsonObject;
  /** The executor selector of each node, in the order of the nodes. */
  readonly selectors: readonly ExecutorSelector[];
  /** Selectors of the nodes that do the route's work. Manual gates and noops are left out. */
  readonly working_selectors: readonly ExecutorSelector[];
  /**
   * Selectors of the nodes that are bound to a signer. The API route of a reserved action type
   * chooses the signer itself, so those are left out.
   */
  readonly signing_selectors: readonly {
    readonly signer: SignerSelector;
    readonly selector: ExecutorSelector;
  }[];
  /** Selectors of the nodes whose sends require something beyond their plan. */
  readonly requiring_selectors: readonly {
    readonly kind: RequirementSpec['kind'];
    readonly selector: ExecutorSelector;
  }[];
  /** The nodes that an exchange pays out, as far as the version names account and network. */
  readonly withdrawals: readonly RouteWithdrawal[];
  /** The nodes that cross from one chain to another. */
  readonly bridge_legs: readonly BridgeLeg[];
}

export interface RouteWithdrawal {
  readonly venue: string;
  readonly network: string;
  /** In upper case; null: the movement's asset. */
  readonly asset: string | null;
  readonly selector: ExecutorSelector;
}

/** Results of a version's movements that ended in the present and the previous month. */
export interface FundRouteStats {
  readonly total_completed: number;
  readonly total_failed: number;
  readonly success_rate: number;
  /** From approval to completion; null while no movement has completed. */
  readonly avg_duration_seconds: number | null;
  readonly max_duration_seconds: number | null;
}

/** Builds the route of a template version. `executable`: whether the version may be run at all. */
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
    signing_selectors: nodes.flatMap((node) => {
      const { signer_selector: signer, action_type } = node;
      if (signer === undefined || specOf(action_type).reserved) return [];
      return [{ signer, selector: selectorOf(node) }];
    }),
    requiring_selectors: nodes.flatMap((node) => {
      const { requires } = specOf(node.action_type);
      return requires === null ? [] : [{ kind: requires.kind, selector: selectorOf(node) }];
    }),
    withdrawals: nodes.flatMap(withdrawalOf),
    bridge_legs: bridgeLegs(nodes, edges, selectorOf),
  };
}

function withdrawalOf(node: TemplateNode): readonly RouteWithdrawal[] {
  const { venue, network, asset } = node.config ?? {};
  if (specOf(node.action_type).pool !== 'exchange') return [];
  if (typeof venue !== 'string' || typeof network !== 'string') return [];
  const own = typeof asset === 'string' && asset !== '' ? asset.toUpperCase() : null;
  return [{ venue, network, asset: own, selector: selectorOf(node) }];
}

function selectorOf({ executor_selector, action_type }: TemplateNode): ExecutorSelector {
  return executor_selector ?? { action_type };
}

function pick(from: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
}
