/**
 * Checks whether an edge's expression can be used at all: when a template version is registered,
 * and when it is read.
 */
import type { GraphEdge } from '../graph/types.ts';
import { compileOnce } from './compile.ts';
import { visibleNodes, type PlanShape } from './scope.ts';

/** Returns why this expression cannot be used on this edge; null if it can. */
export function conditionProblem(edge: GraphEdge, plan: PlanShape): string | null {
  if (edge.condition_expr === null) return null;
  const compiled = compileOnce(edge.condition_expr);
  if ('problem' in compiled) return compiled.problem;
  const named = [...compiled.program.uses.nodes.keys()];
  if (named.length === 0) return null;
  const visible = visibleNodes(plan, edge.from);
  const foreign = named.find((key) => !visible.has(key));
  if (foreign === undefined) return null;
  const exists = plan.nodes.some((node) => node.node_key === foreign);
  return exists
    ? `nodes['${foreign}'] does not lie before this edge`
    : `there is no node ${foreign}`;
}
