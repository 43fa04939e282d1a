/** Versions of reserved templates; the service itself registers one version for each node. */
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import type { CompletionAssurance } from '../../domain/executor.ts';
import { graphShape } from '../../domain/graph/shape.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { createTemplate, findVersionOf } from '../../store/templates.ts';
import type { ApiDependencies } from '../dependencies.ts';

/** Returns the version with this one node; registers the version if it does not exist yet. */
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
    // Another request may register first; then the loop reads that version.
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
