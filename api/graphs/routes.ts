/** The routes that draw plans. */
import { z } from 'zod';
import { ALL_ROLES } from '../../domain/roles.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { movementParams, noBody, uuid } from '../http/schemas.ts';
import { graphOfMovement } from './movement.ts';
import { graphQuery, MERMAID_TEXT, movementGraph, templateGraph } from './schema.ts';
import { graphOfTemplate } from './template.ts';

const read = {
  method: 'GET',
  acts: 'never',
  power: 'reads',
  roles: ALL_ROLES,
  query: graphQuery,
  body: noBody,
  text: MERMAID_TEXT,
} as const;

export const graphRoutes: readonly Route[] = [
  defineRoute({
    ...read,
    id: 'getMovementGraph',
    path: '/movements/{movement_id}/graph',
    tag: 'Movements',
    summary: 'Draw a movement',
    description:
      'The plan as it was compiled, with the state of each node and what became of each edge.',
    params: movementParams,
    response: movementGraph,
    errors: ['movement_not_found'],
    handler: graphOfMovement,
  }),
  defineRoute({
    ...read,
    id: 'getPlanTemplateGraph',
    path: '/plan-templates/{template_id}/graph',
    tag: 'Plan templates',
    summary: 'Draw a plan template version',
    params: z.strictObject({ template_id: uuid }),
    response: templateGraph,
    errors: ['template_not_found'],
    handler: graphOfTemplate,
  }),
];
