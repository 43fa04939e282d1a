/** Routes with what is known of them now, as both answers show them. */
import type { Requester } from '../../domain/actions/context.ts';
import { namespaceOf } from '../../domain/roles.ts';
import { canAllWork, healthOver } from '../../domain/fund-routes/health.ts';
import type { Candidate } from '../../domain/fund-routes/recommend.ts';
import { listFundRoutes, readFundRouteFacts } from '../../store/fund-routes.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { RouteView } from './schema.ts';

/** Every route that the caller may see, by key and version. */
export async function visibleRoutes(
  { caller }: Requester,
  { db, executors }: ApiDependencies,
): Promise<{ readonly candidates: readonly Candidate[]; readonly generated_at: string }> {
  const [routes, facts] = await Promise.all([
    listFundRoutes(db, namespaceOf(caller)),
    readFundRouteFacts(db),
  ]);
  const healthOf = healthOver(executors.list(), facts.executors);
  const candidates = routes.map((route) => ({
    route,
    stats: facts.statsOf(route.template_id),
    health: healthOf(route.selectors),
    can_work: canAllWork(healthOf(route.working_selectors)),
  }));
  return { candidates, generated_at: facts.at };
}

/** A route as it is shown; its health only where that was asked for. */
export function routeViewOf({ route, stats, health }: Candidate, withHealth: boolean): RouteView {
  const {
    template_key,
    name,
    version,
    graph_shape,
    node_count,
    executable,
    metadata,
    fee_policy,
    risk_controls,
  } = route;
  return {
    ...{
      template_key,
      name,
      version,
      graph_shape,
      node_count,
      executable,
      metadata,
      stats,
      fee_policy,
      risk_controls,
    },
    ...(withHealth ? { health } : {}),
  };
}
