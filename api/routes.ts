/** Every route except the routes of venues (venues/routes.ts). */
import { agentRoutes } from './agents/routes.ts';
import { approvalRoutes } from './approvals/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { balanceRoutes } from './balances/routes.ts';
import { policyRoutes } from './auto-approve/routes.ts';
import { bridgeRefreshRoute } from './bridges/routes.ts';
import { budgetRoutes } from './budgets/routes.ts';
import { callbackRoutes } from './callbacks/routes.ts';
import { capitalTransferRoutes } from './capital-transfers/routes.ts';
import { changeRequestRoutes } from './change-requests/routes.ts';
import { cutoverRoutes } from './cutover/routes.ts';
import { graphRoutes } from './graphs/routes.ts';
import { movementRoutes } from './movements/routes.ts';
import { registryRoutes } from './registries/routes.ts';
import { routeCatalogRoutes } from './route-catalog/routes.ts';
import { searchRoutes } from './search/routes.ts';
import type { Route } from './http/route.ts';
import { templateRoutes } from './templates/routes.ts';
import { whoamiRoutes } from './whoami/routes.ts';

export const coreRoutes: readonly Route[] = [
  ...movementRoutes,
  ...approvalRoutes,
  ...changeRequestRoutes,
  ...graphRoutes,
  ...templateRoutes,
  ...routeCatalogRoutes,
  ...registryRoutes,
  bridgeRefreshRoute,
  ...cutoverRoutes,
  ...balanceRoutes,
  ...capitalTransferRoutes,
  ...policyRoutes,
  ...budgetRoutes,
  ...callbackRoutes,
  ...auditRoutes,
  ...agentRoutes,
  ...searchRoutes,
  ...whoamiRoutes,
];
