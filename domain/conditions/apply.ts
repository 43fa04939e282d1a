/**
 * Adds stored condition results to the edges. This file contains no evaluator, because workflows
 * import it.
 */
import type { GraphEdge } from '../graph/types.ts';
import type { WalkEdge } from '../graph/walk-types.ts';
import type { ConditionResult } from './scope.ts';

/**
 * Returns plan edges for the graph walk, with stored results (key: the edge's position as a decimal
 * string).
 */
export function withConditions(
  edges: readonly GraphEdge[],
  results: Readonly<Record<string, ConditionResult>>,
): readonly WalkEdge[] {
  return edges.map((edge, position) => {
    const key = String(position);
    const stored = Object.hasOwn(results, key) ? results[key] : undefined;
    return { ...edge, condition: edge.condition_expr === null ? null : conditionOf(stored) };
  });
}

function conditionOf(stored: ConditionResult | undefined): WalkEdge['condition'] {
  switch (stored) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'error':
      return 'error';
    case undefined:
      return null;
  }
}
