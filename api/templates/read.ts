/** GET plan-templates/{template_id}. */
import { z } from 'zod';
import { ServiceError } from '../../domain/errors.ts';
import { ALL_ROLES, mayReadTemplate } from '../../domain/roles.ts';
import { readTemplate } from '../../store/templates.ts';
import { defineRoute } from '../route.ts';
import { noBody, noQuery, uuid } from '../schemas.ts';
import { planTemplateDetail } from './schema.ts';
import { detailView } from './view.ts';

export const readTemplateRoute = defineRoute({
  id: 'getPlanTemplate',
  method: 'GET',
  path: '/plan-templates/{template_id}',
  roles: ALL_ROLES,
  tag: 'Plan templates',
  summary: 'Read a plan template version',
  params: z.strictObject({ template_id: uuid }),
  query: noQuery,
  body: noBody,
  response: planTemplateDetail,
  errors: ['template_not_found'],
  handler: async ({ params, requester }, { db }) => {
    const template = await readTemplate(db, params.template_id);
    if (template === null || !mayReadTemplate(requester.caller, template.template_key))
      throw new ServiceError('template_not_found', { context: { template_id: params.template_id } });
    return { status: 200, body: detailView(template) };
  },
});
