/** PATCH plan-templates/{template_key}. */
import { z } from 'zod';
import { auditOf } from '../../domain/actions/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { ADMIN_ROLES } from '../../domain/roles.ts';
import { updateTemplateAdmin } from '../../store/templates.ts';
import { defineRoute } from '../route.ts';
import { noQuery } from '../schemas.ts';
import { planTemplateAdmin, planTemplateAdminUpdate, templateKey } from './schema.ts';

export const updateTemplateAdminRoute = defineRoute({
  id: 'updatePlanTemplateAdmin',
  method: 'PATCH',
  path: '/plan-templates/{template_key+}',
  roles: ADMIN_ROLES,
  tag: 'Plan templates',
  summary: 'Change the auto-approve fields of a template key',
  description: 'They hold for every version of the key. The key is the rest of the path and may contain `/`.',
  params: z.strictObject({ template_key: templateKey }),
  query: noQuery,
  body: planTemplateAdminUpdate,
  response: planTemplateAdmin,
  errors: ['template_not_found', 'cap_consistency_violation'],
  handler: async ({ params, body, requester }, { db }) => {
    const { template_key } = params;
    const about = {
      action: 'plan_template.update_admin_fields',
      entity_type: 'plan_template',
      entity_key: template_key,
    } as const;
    const outcome = await updateTemplateAdmin(db, template_key, body, {
      audit: [auditOf(requester, { ...about, details: body })],
      refused_audit: [auditOf(requester, { ...about, outcome: 'denied', details: { ...body, error: 'cap_consistency_violation' } })],
    });
    if (outcome === null) throw new ServiceError('template_not_found', { context: { template_key } });
    if (!outcome.ok) throw new ServiceError('cap_consistency_violation', { context: { template_key } });
    return { status: 200, body: outcome.template };
  },
});
