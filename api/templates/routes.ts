/** The routes of plan templates. */
import type { Route } from '../http/route.ts';
import { createTemplateRoute } from './create.ts';
import { listTemplatesRoute } from './list.ts';
import { readTemplateRoute } from './read.ts';
import { retireTemplateRoute } from './retire.ts';
import { updateTemplateAdminRoute } from './update-admin.ts';

export const templateRoutes: readonly Route[] = [
  createTemplateRoute,
  listTemplatesRoute,
  readTemplateRoute,
  updateTemplateAdminRoute,
  retireTemplateRoute,
];
