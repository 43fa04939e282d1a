/** POST plan-templates. */
import { auditOf } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { graphShape } from '../../domain/graph/shape.ts';
import { validateGraph } from '../../domain/graph/validate.ts';
import { isReservedTemplate } from '../../domain/plan/template.ts';
import { edgeOf, nodeOf } from '../../domain/plan/template.ts';
import { ADMIN_ROLES } from '../../domain/roles.ts';
import { createTemplate, judged } from '../../store/templates.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { afterAccepting } from '../http/accepted.ts';
import { defineRoute } from '../http/route.ts';
import { noParams, noQuery } from '../http/schemas.ts';
import { planTemplateCreate, planTemplateCreated } from './schema.ts';
import { createdView } from './view.ts';

/** A graph of the most edges may have a cycle for almost each of them. */
const MOST_PROBLEMS = 100;

export const createTemplateRoute = defineRoute({
  id: 'createPlanTemplate',
  method: 'POST',
  power: { widens: 'templates' },
  path: '/plan-templates',
  roles: ADMIN_ROLES,
  tag: 'Plan templates',
  summary: 'Register a plan template version',
  description:
    'Versions are immutable. A valid graph that this release cannot execute is stored too, with the reasons; ' +
    'movements of it are refused.',
  params: noParams,
  query: noQuery,
  body: planTemplateCreate,
  response: planTemplateCreated,
  status: 201,
  errors: [
    'completion_policy_missing',
    'graph_invalid',
    'reserved_template_family',
    'template_version_exists',
  ],
  handler: async ({ body, requester }, deps) => {
    const completion_assurance = body.completion_policy?.completion_assurance;
    if (completion_assurance === undefined) throw new ServiceError('completion_policy_missing');
    const graph = { nodes: body.nodes.map(nodeOf), edges: body.edges.map(edgeOf) };
    const problems = validateGraph(graph);
    if (problems.length > 0)
      throw new ServiceError('graph_invalid', {
        context: { problems: problems.slice(0, MOST_PROBLEMS) },
      });

    if (isReservedTemplate(body.template_key))
      throw new ServiceError('reserved_template_family', {
        context: { template_key: body.template_key },
      });
    const { template_key, version, name, approval_policy, risk_controls } = body;
    const template = {
      template_key,
      version,
      graph_shape: graphShape(graph),
      completion_policy: { completion_assurance },
    };
    const about = {
      action: 'plan_template.create',
      entity_type: 'plan_template',
      entity_key: template_key,
    } as const;
    return auditedRefusal(deps, requester, about, async () => {
      const outcome = await createTemplate(deps.db, {
        ...template,
        ...graph,
        name,
        owner: body.owner ?? null,
        approval_policy,
        risk_controls,
        created_by: requester.caller.client_id,
        audit: (template_id) => [
          auditOf(requester, { ...about, details: { template_id, version } }),
        ],
      });
      if (!outcome.created)
        throw new ServiceError('template_version_exists', { context: { template_key, version } });
      const { template_id } = outcome;
      const non_executable_reasons = await afterAccepting(() =>
        judged(deps.db, template_id, graph),
      );
      return {
        status: 201,
        body: createdView({ ...template, template_id, non_executable_reasons }),
      };
    });
  },
});
