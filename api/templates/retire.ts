/** POST plan-templates/{template_id}/retire. */
import { z } from 'zod';
import { auditOf } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isReservedTemplate } from '../../domain/plan/template.ts';
import { mayMove, RETIRE_ROLES } from '../../domain/roles.ts';
import { retireTemplate } from '../../store/templates.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { otherNamespace, visibleTemplate } from '../auth/visible.ts';
import { defineRoute } from '../http/route.ts';
import { noQuery, uuid } from '../http/schemas.ts';
import { planTemplateRetire, planTemplateRetired } from './schema.ts';

export const retireTemplateRoute = defineRoute({
  id: 'retirePlanTemplate',
  method: 'POST',
  power: 'narrows',
  path: '/plan-templates/{template_id}/retire',
  roles: RETIRE_ROLES,
  tag: 'Plan templates',
  summary: 'Retire a plan template version',
  description:
    'For good: no new movement, preview or proposal is made from it, and the route catalog leaves it out. Movements that it made continue unchanged. ' +
    'An agent retires only versions of its own namespace. A repeat answers the first retirement.',
  params: z.strictObject({ template_id: uuid }),
  query: noQuery,
  body: planTemplateRetire,
  response: planTemplateRetired,
  errors: ['template_not_found', 'agent_namespace_mismatch', 'reserved_template_family'],
  handler: async ({ params: { template_id }, body: { reason }, requester }, deps) => {
    const { template_key, version } = await visibleTemplate(template_id, requester, deps);
    const about = {
      action: 'plan_template.retire',
      entity_type: 'plan_template',
      entity_key: template_key,
      reason,
      details: { template_id, version },
    } as const;
    return auditedRefusal(deps, requester, about, async () => {
      if (!mayMove(requester.caller, template_key))
        throw otherNamespace(requester.caller, template_key);
      if (isReservedTemplate(template_key))
        throw new ServiceError('reserved_template_family', { context: { template_key } });
      const by = requester.caller.client_id;
      const retired = await retireTemplate(deps.db, {
        template_id,
        reason,
        by,
        audit: auditOf(requester, about),
      });
      if (retired === null)
        throw new ServiceError('template_not_found', { context: { template_id } });
      return { status: 200, body: retired };
    });
  },
});
