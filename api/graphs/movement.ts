/** GET /movements/{movement_id}/graph */
import type { Requester } from '../../domain/commands/context.ts';
import { withConditions } from '../../domain/conditions/apply.ts';
import { ServiceError } from '../../domain/errors.ts';
import { edgeStatuses } from '../../domain/graph/edge-status.ts';
import { toMermaid } from '../../domain/graph/mermaid.ts';
import type { CompiledPlan } from '../../domain/plan/types.ts';
import { walkNode } from '../../domain/snapshot.ts';
import { readPlan, type MovementDetail } from '../../store/movement-reads.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { bindingKey } from '../movements/detail.ts';
import type { Reply, TextReply } from '../http/route.ts';
import { visibleMovement } from '../auth/visible.ts';
import type { MovementGraph } from './schema.ts';

/** Returns the plan of a movement with the states of its nodes and edges. */
export async function graphOfMovement(
  input: {
    readonly params: { readonly movement_id: string };
    readonly query: { readonly format: 'json' | 'mermaid' };
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<MovementGraph> | TextReply> {
  const { movement_id } = input.params;
  const found = await visibleMovement(movement_id, input.requester, deps);
  const plan = await readPlan(deps.db, movement_id);
  if (plan === null) throw new ServiceError('movement_not_found', { context: { movement_id } });
  const graph = toGraph(found, plan);
  if (input.query.format === 'json') return { status: 200, body: graph };
  const nodes = graph.nodes.map(({ executor_key, signer_key, ...node }) => ({
    ...node,
    executor: executor_key,
    signer: signer_key,
  }));
  return { status: 200, text: toMermaid({ nodes, edges: graph.edges }) };
}

function toGraph(found: MovementDetail, plan: CompiledPlan): MovementGraph {
  const nodes = found.nodes.map((node) =>
    walkNode({
      ...node,
      settled_order: node.completed_at === null ? 0 : Date.parse(node.completed_at),
    }),
  );
  const edges = withConditions(plan.edges, found.edge_conditions);
  const statuses = edgeStatuses({ state: found.request_state, nodes, edges });
  const { movement_id, request_state, template_key, template_version } = found;
  return {
    movement_id,
    request_state,
    template_key,
    template_version,
    nodes: found.nodes.map(
      ({
        node_key,
        node_kind,
        action_type,
        state,
        attempt,
        error_code,
        executor_binding,
        signer_binding,
      }) => ({
        node_key,
        node_kind,
        action_type,
        state,
        attempt,
        error_code,
        executor_key: bindingKey(executor_binding, 'executor_key'),
        signer_key: signer_binding === null ? null : bindingKey(signer_binding, 'signer_key'),
      }),
    ),
    edges: plan.edges.map((edge, position) => ({ ...edge, status: statuses[position] ?? null })),
  };
}
