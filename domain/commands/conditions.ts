/** Evaluates the conditions on the edges that leave a settled node. */
import type { ConditionNode, ConditionResult } from '../conditions/scope.ts';
import { settleConditions } from '../conditions/settle.ts';
import type { JsonObject } from '../json.ts';
import { edgeName, type GraphEdge } from '../graph/types.ts';
import { isTimedOut } from '../snapshot.ts';
import type { Intent } from '../plan/types.ts';
import { SYSTEM_ACTOR } from '../roles.ts';
import type { NodeState } from '../states/node.ts';
import { storable } from '../text.ts';
import type { TimelineEntry } from '../transition.ts';

/**
 * Results of conditions. The database write that settles the node stores them, so each condition is
 * evaluated only once.
 */
export interface Settlement {
  readonly results: Readonly<Record<string, ConditionResult>>;
  /** Timeline entries: one `condition_error` for each condition that could not be evaluated. */
  readonly timeline: readonly TimelineEntry[];
}

export interface SettledNode {
  readonly node_key: string;
  readonly attempt: number;
  readonly state: NodeState;
  readonly resumed: boolean;
  readonly output: JsonObject | null;
  readonly error_code: string | null;
  /** True: the node is FAILED, and its failure triggers no edge; see `WalkNode`. */
  readonly ended_by_stop?: boolean;
}

/** Returns the results of the conditions. `nodes`: the nodes before `source` settles. */
export function settle(
  plan: {
    readonly edges: readonly GraphEdge[];
    readonly intent: Intent;
    readonly input_params: JsonObject;
  },
  nodes: Readonly<Record<string, ConditionNode>>,
  source: SettledNode,
): Settlement {
  const { node_key, attempt, state, resumed, output, error_code, ended_by_stop = false } = source;
  const { results, errors } = settleConditions(
    { ...plan, nodes: Object.keys(nodes).map((key) => ({ node_key: key })) },
    { node_key, state, resumed, timed_out: isTimedOut(error_code), ended_by_stop },
    { ...nodes, [node_key]: { state, output, error_code } },
  );
  return {
    results,
    timeline: errors.map(({ position, message }) => {
      const edge = plan.edges[position];
      return {
        event_type: 'condition_error',
        message: storable(
          `The condition of ${edge === undefined ? position : edgeName(edge)} could not be evaluated: ${message}`,
          500,
        ),
        actor: SYSTEM_ACTOR,
        node_key,
        attempt,
        data: {
          ...(edge === undefined
            ? {}
            : { from: edge.from, to: edge.to, edge_type: edge.edge_type }),
        },
      };
    }),
  };
}
