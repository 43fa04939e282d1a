/** The versions of reserved templates, which the service registers itself, one for each node. */
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import type { CompletionAssurance } from '../../domain/executor.ts';
import { graphShape } from '../../domain/graph/shape.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { createTemplate, findVersionOf } from '../../store/templates.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** The version with this one node, which is registered where there is none yet. */
export async function reservedVersion(
  node: TemplateNode,
  template: {
    readonly template_key: string;
    readonly name: string;
    readonly completion_assurance: CompletionAssurance;
  },
  requester: Requester,
  { db }: ApiDependencies,
): Promise<number> {
  const { template_key, name, completion_assurance } = template;
  for (;;) {
    const { found, latest } = await findVersionOf(db, template_key, node);
    if (found !== null) return found;
    const version = latest + 1;
    const graph = { nodes: [node], edges: [] };
    // Another request may be faster; then its version is read.
    await createTemplate(db, {
      template_key,
      version,
      name,
      owner: null,
      ...graph,
      graph_shape: graphShape(graph),
      approval_policy: {},
      risk_controls: {},
      completion_policy: { completion_assurance },
      created_by: requester.caller.client_id,
      audit: (template_id) => [
        auditOf(requester, {
          action: 'plan_template.create',
          entity_type: 'plan_template',
          entity_key: template_key,
          details: { template_id, version },
        }),
      ],
    });
  }
}
