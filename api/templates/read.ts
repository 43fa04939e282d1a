/** GET plan-templates/{template_id}. */
import { z } from 'zod';
import { ALL_ROLES } from '../../domain/roles.ts';
import { defineRoute } from '../http/route.ts';
import { noBody, noQuery, uuid } from '../http/schemas.ts';
import { visibleTemplate } from '../auth/visible.ts';
import { planTemplateDetail } from './schema.ts';
import { detailView } from './view.ts';

export const readTemplateRoute = defineRoute({
  id: 'getPlanTemplate',
  method: 'GET',
  acts: 'never',
  power: 'reads',
  path: '/plan-templates/{template_id}',
  roles: ALL_ROLES,
  tag: 'Plan templates',
  summary: 'Read a plan template version',
  params: z.strictObject({ template_id: uuid }),
  query: noQuery,
  body: noBody,
  response: planTemplateDetail,
  errors: ['template_not_found'],
  handler: async ({ params, requester }, deps) => {
    return {
      status: 200,
      body: detailView(await visibleTemplate(params.template_id, requester, deps)),
    };
  },
});
