/** A plan with one condition, and what its nodes have come to. */
import { conditionProblem } from '../../../domain/conditions/check.ts';
import type { ConditionNode, ConditionPlan } from '../../../domain/conditions/scope.ts';
import { settleConditions } from '../../../domain/conditions/settle.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { GraphEdge } from '../../../domain/graph/types.ts';
import { edge } from '../graph/build.ts';

/** `z` leads to `a` and to `c`; `a` leads to `b` under the condition, which is edge 1. */
export function planWith(
  condition_expr: string,
  inputParams: JsonObject = {},
): ConditionPlan & { readonly edge: GraphEdge } {
  const conditional = edge('a-1>b', { condition_expr });
  return {
    nodes: ['z', 'a-1', 'b', 'c'].map((node_key) => ({ node_key })),
    edges: [edge('z>a-1'), conditional, edge('z>c')],
    edge: conditional,
    intent: { asset: 'USDC', amount: '100', chain_id: 1, destination_address: '0xab' },
    input_params: inputParams,
  };
}

export const NODES: Readonly<Record<string, ConditionNode>> = {
  z: {
    state: 'COMPLETED',
    output: { fee: '2.5', count: 3, tags: ['x', 'y'], deep: { er: true } },
    error_code: null,
  },
  'a-1': { state: 'COMPLETED', output: null, error_code: null },
  b: { state: 'BLOCKED', output: null, error_code: null },
  c: { state: 'COMPLETED', output: { fee: '1' }, error_code: null },
};

export function problem(expression: string): string | null {
  const plan = planWith(expression);
  return conditionProblem(plan.edge, plan);
}

/** The result and, for an error, why. */
export function outcome(
  expression: string,
  inputParams: JsonObject = {},
): [string | undefined, string | undefined] {
  const source = { node_key: 'a-1', state: 'COMPLETED', resumed: false, timed_out: false } as const;
  const { results, errors } = settleConditions(planWith(expression, inputParams), source, NODES);
  return [results['1'], errors[0]?.message];
}
