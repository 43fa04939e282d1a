/** GET /plan-templates/{template_id}/graph */
import type { Requester } from '../../domain/commands/context.ts';
import { toMermaid } from '../../domain/graph/mermaid.ts';
import type { TemplateDetail } from '../../store/templates.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply, TextReply } from '../http/route.ts';
import { visibleTemplate } from '../auth/visible.ts';
import type { TemplateGraph } from './schema.ts';

/**
 * Returns the plan of a template version: with the selectors of its nodes, without bindings, which
 * are made only for a movement.
 */
export async function graphOfTemplate(
  input: {
    readonly params: { readonly template_id: string };
    readonly query: { readonly format: 'json' | 'mermaid' };
    readonly requester: Requester;
  },
  deps: ApiDependencies,
): Promise<Reply<TemplateGraph> | TextReply> {
  const template = await visibleTemplate(input.params.template_id, input.requester, deps);
  if (input.query.format === 'json') return { status: 200, body: toGraph(template) };
  const notRun = { state: null, attempt: null, executor: null, signer: null };
  const nodes = template.nodes.map((node) => ({ ...node, ...notRun }));
  return {
    status: 200,
    text: toMermaid({ nodes, edges: template.edges.map((edge) => ({ ...edge, status: null })) }),
  };
}

function toGraph(template: TemplateDetail): TemplateGraph {
  const { template_id, template_key, version, graph_shape } = template;
  return {
    template_id,
    template_key,
    version,
    graph_shape,
    nodes: template.nodes.map(
      ({ node_key, node_kind, action_type, executor_selector, signer_selector }) => ({
        node_key,
        node_kind,
        action_type,
        executor_selector: executor_selector ?? null,
        signer_selector: signer_selector ?? null,
      }),
    ),
    edges: template.edges.map(({ id: _id, ...edge }) => edge),
  };
}
