/** A route: one template version as a way for funds. What is here never changes, as the version does not. */
import type { JsonObject } from '../executor.ts';
import type { GraphEdge, GraphShape } from '../graph/types.ts';
import { RESERVED_ACTION } from '../plan/actions.ts';
import { nonExecutableReasons } from '../plan/executable.ts';
import type { ExecutorSelector, TemplateNode } from '../plan/types.ts';
import { routeMetadata, type RouteMetadata } from './metadata.ts';

export const FEE_KEYS = ['expected_fee', 'max_fee_abs', 'max_fee_pct', 'max_fee_usd'] as const;
export const LIMIT_KEYS = ['max_amount', 'min_amount'] as const;

/** The template version that a route is made of. */
export interface RouteSource {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly name: string;
  readonly graph_shape: GraphShape;
  readonly risk_controls: JsonObject;
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly GraphEdge[];
}

export interface Route {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly name: string;
  readonly graph_shape: GraphShape;
  readonly node_count: number;
  readonly executable: boolean;
  /** Movements of it are made through a route of its own alone, so nobody can be advised to take it. */
  readonly reserved: boolean;
  readonly metadata: RouteMetadata;
  /** The keys of risk_controls that are about fees, as they were registered. */
  readonly fee_policy: JsonObject;
  /** Only the two limits. */
  readonly risk_controls: JsonObject;
  /** Whom its nodes select, in their order. */
  readonly selectors: readonly ExecutorSelector[];
}

/** What became of the movements of a version that ended in the present and the previous month. */
export interface RouteStats {
  readonly total_completed: number;
  readonly total_failed: number;
  readonly success_rate: number;
  /** From approval to completion; null while none has completed. */
  readonly avg_duration_seconds: number | null;
  readonly max_duration_seconds: number | null;
}

export function toRoute(source: RouteSource): Route {
  const { template_id, template_key, version, name, graph_shape, nodes, risk_controls } = source;
  return {
    ...{ template_id, template_key, version, name, graph_shape },
    node_count: nodes.length,
    executable: nonExecutableReasons(source).length === 0,
    reserved: nodes.some(({ action_type }) => action_type === RESERVED_ACTION),
    metadata: routeMetadata(nodes),
    fee_policy: pick(risk_controls, FEE_KEYS),
    risk_controls: pick(risk_controls, LIMIT_KEYS),
    selectors: nodes.map(({ executor_selector, action_type }) => executor_selector ?? { action_type }),
  };
}

function pick(from: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
}
