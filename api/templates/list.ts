/** GET plan-templates. */
import { z } from 'zod';
import { TEMPLATE_STATUSES } from '../../domain/states/template-version.ts';
import { ALL_ROLES, namespaceOf } from '../../domain/roles.ts';
import { listTemplates } from '../../store/templates.ts';
import { fetchPage, nextCursor, pageParameters } from '../http/paging.ts';
import { defineRoute } from '../http/route.ts';
import { booleanInQuery, listOf, noBody, noParams, text } from '../http/schemas.ts';
import { planTemplateSummary } from './schema.ts';
import { summaryView } from './view.ts';

export const listTemplatesRoute = defineRoute({
  id: 'listPlanTemplates',
  method: 'GET',
  acts: 'never',
  power: 'reads',
  path: '/plan-templates',
  roles: ALL_ROLES,
  tag: 'Plan templates',
  summary: 'List plan template versions, newest first',
  params: noParams,
  query: z.strictObject({
    template_key: text(1, 256).optional().meta({ description: 'Only versions of this key.' }),
    executable: booleanInQuery
      .optional()
      .meta({ description: 'Only versions that can, or cannot, be executed.' }),
    status: z.enum(TEMPLATE_STATUSES).optional(),
    ...pageParameters,
  }),
  body: noBody,
  response: z
    .object({ plan_templates: listOf(planTemplateSummary), next_cursor: nextCursor })
    .meta({ id: 'PlanTemplateListResponse' }),
  errors: [],
  handler: async ({ query, requester }, { db }) => {
    const { template_key, executable, status } = query;
    const { items, next_cursor } = await fetchPage(
      query,
      (page) =>
        listTemplates(
          db,
          { template_key, executable, status, namespace: namespaceOf(requester.caller) },
          page,
        ),
      (row) => ({ created_at: row.created_at, id: row.template_id }),
    );
    return { status: 200, body: { plan_templates: items.map(summaryView), next_cursor } };
  },
});
