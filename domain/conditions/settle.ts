/** Evaluates the conditions on a node's outgoing edges, once, when the node settles. */
import { triggers } from '../graph/edges.ts';
import type { GraphEdge } from '../graph/types.ts';
import type { NodeState } from '../states/node.ts';
import { compile, reasonOf } from './compile.ts';
import { variablesOf } from './data.ts';
import {
  visibleNodes,
  type ConditionNode,
  type ConditionPlan,
  type ConditionResult,
} from './scope.ts';

export interface SettledConditions {
  /** Keyed by the position of the edge in the plan, as a decimal string. */
  readonly results: Readonly<Record<string, ConditionResult>>;
  /** Why a result is `error`; shown in the timeline. */
  readonly errors: readonly { readonly position: number; readonly message: string }[];
}

/**
 * Returns the results of the conditions on edges that leave `source` and have a type that its
 * outcome triggers. `nodes` maps node_key to what conditions may read of the node, with the source
 * already in its settled state. Pure: equal arguments give equal results, so the transaction that
 * stores them may be repeated.
 */
export function settleConditions(
  plan: ConditionPlan,
  source: {
    readonly node_key: string;
    readonly state: NodeState;
    readonly resumed: boolean;
    readonly timed_out: boolean;
    readonly ended_by_stop?: boolean;
  },
  nodes: Readonly<Record<string, ConditionNode>>,
): SettledConditions {
  const siblings = plan.edges.filter((edge) => edge.from === source.node_key);
  const results: Record<string, ConditionResult> = {};
  const errors: { position: number; message: string }[] = [];
  const due = plan.edges.flatMap((edge, position) => {
    const leaves = edge.from === source.node_key && edge.condition_expr !== null;
    return leaves && triggers(edge, source, siblings) ? [{ edge, position }] : [];
  });
  if (due.length === 0) return { results, errors };
  const visible = visibleNodes(plan, source.node_key);
  const nodeOf = (key: string): ConditionNode | undefined =>
    visible.has(key) && Object.hasOwn(nodes, key) ? nodes[key] : undefined;
  for (const { edge, position } of due) {
    const { result, message } = evaluate(edge, plan, nodeOf);
    results[String(position)] = result;
    if (message !== null) errors.push({ position, message });
  }
  return { results, errors };
}

function evaluate(
  edge: GraphEdge,
  plan: ConditionPlan,
  nodeOf: (key: string) => ConditionNode | undefined,
): { result: ConditionResult; message: string | null } {
  const compiled = compile(edge.condition_expr ?? '');
  if ('problem' in compiled) return { result: 'error', message: compiled.problem };
  try {
    const value = compiled.program.run(variablesOf(compiled.program, plan, nodeOf));
    if (value === true || value === false)
      return { result: value ? 'true' : 'false', message: null };
    return { result: 'error', message: 'the result is not a boolean' };
  } catch (error) {
    return { result: 'error', message: reasonOf(error) };
  }
}
