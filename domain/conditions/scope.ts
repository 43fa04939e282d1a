/** Defines what a condition may read of its movement. */
import type { JsonObject } from '../json.ts';
import { ancestorsOf } from '../graph/paths.ts';
import type { GraphEdge } from '../graph/types.ts';
import type { Intent } from '../plan/types.ts';
import type { NodeState } from '../states/node.ts';

export type ConditionResult = 'true' | 'false' | 'error';

/** A node as a condition reads it. */
export interface ConditionNode {
  readonly state: NodeState;
  readonly output: JsonObject | null;
  readonly error_code: string | null;
}

export interface ConditionPlan {
  readonly nodes: readonly { readonly node_key: string }[];
  readonly edges: readonly GraphEdge[];
  readonly intent: Intent;
  readonly input_params: JsonObject;
}

/** The part of a plan that shows which nodes come before which. */
export type PlanShape = Pick<ConditionPlan, 'nodes' | 'edges'>;

/**
 * A cache keyed by the plan's edges: plans do not change, and the conditions of a plan are
 * evaluated one after another.
 */
const visibleOf = new WeakMap<readonly GraphEdge[], Map<string, ReadonlySet<string>>>();

/**
 * Returns the nodes that a condition on an edge out of `source` may read: the source and its
 * ancestors. Reading parallel nodes would make the result depend on time. Only after a join of
 * several groups can an ancestor still be in flight; its state then shows this.
 */
export function visibleNodes(plan: PlanShape, source: string): ReadonlySet<string> {
  const known = visibleOf.get(plan.edges) ?? new Map<string, ReadonlySet<string>>();
  visibleOf.set(plan.edges, known);
  const visible = known.get(source) ?? new Set([source, ...ancestorsOf(plan, source)]);
  known.set(source, visible);
  return visible;
}
