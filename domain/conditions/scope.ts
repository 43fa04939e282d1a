/** What a condition may see, in the terms of the movement it belongs to. */
import type { JsonObject } from '../json.ts';
import { ancestorsOf } from '../graph/paths.ts';
import type { GraphEdge } from '../graph/types.ts';
import type { Intent } from '../plan/types.ts';
import type { NodeState } from '../states/node.ts';

export type ConditionResult = 'true' | 'false' | 'error';

/** A node as a condition sees it. */
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

/** The part of a plan that says which nodes lie before which. */
export type PlanShape = Pick<ConditionPlan, 'nodes' | 'edges'>;

/**
 * A cache by plan: plans do not change, and a plan's conditions are evaluated one after the other.
 */
const visibleOf = new WeakMap<readonly GraphEdge[], Map<string, ReadonlySet<string>>>();

/**
 * The nodes that a condition on an edge out of `source` may read: the source and what lies before
 * it. What runs beside it would make the result depend on the moment. Only behind a join of several
 * groups can an ancestor still be under way; its state then says so.
 */
export function visibleNodes(plan: PlanShape, source: string): ReadonlySet<string> {
  const known = visibleOf.get(plan.edges) ?? new Map<string, ReadonlySet<string>>();
  visibleOf.set(plan.edges, known);
  const visible = known.get(source) ?? new Set([source, ...ancestorsOf(plan, source)]);
  known.set(source, visible);
  return visible;
}
