/** PATCH plan-templates/{template_key}. */
import { z } from 'zod';
import { auditOf } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ADMIN_ROLES } from '../../domain/roles.ts';
import { updateTemplateAdmin } from '../../store/templates.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { defineRoute } from '../http/route.ts';
import { noQuery } from '../http/schemas.ts';
import { planTemplateAdmin, planTemplateAdminUpdate, templateKey } from './schema.ts';

export const updateTemplateAdminRoute = defineRoute({
  id: 'updatePlanTemplateAdmin',
  method: 'PATCH',
  power: { widens: 'templates' },
  path: '/plan-templates/{template_key+}',
  roles: ADMIN_ROLES,
  tag: 'Plan templates',
  summary: 'Change the auto-approve fields of a template key',
  description:
    'They hold for every version of the key; of a key in the namespace of an agent (`agent/…`) they approve nothing. The key is the rest of the path and may contain `/`.',
  params: z.strictObject({ template_key: templateKey }),
  query: noQuery,
  body: planTemplateAdminUpdate,
  response: planTemplateAdmin,
  errors: ['template_not_found', 'cap_consistency_violation'],
  handler: ({ params, body, requester }, deps) => {
    const { template_key } = params;
    const about = {
      action: 'plan_template.update_admin_fields',
      entity_type: 'plan_template',
      entity_key: template_key,
      details: body,
    } as const;
    return auditedRefusal(deps, requester, about, async () => {
      const outcome = await updateTemplateAdmin(deps.db, template_key, body, [
        auditOf(requester, about),
      ]);
      if (outcome === null)
        throw new ServiceError('template_not_found', { context: { template_key } });
      if (!outcome.ok)
        throw new ServiceError('cap_consistency_violation', { context: { template_key } });
      return { status: 200, body: outcome.template };
    });
  },
});
