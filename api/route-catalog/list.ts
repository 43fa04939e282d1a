/** GET route-catalog. */
import type { z } from 'zod';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply, RouteInput } from '../http/route.ts';
import type { catalogQuery, catalogResponse } from './schema.ts';
import { routeViewOf, visibleRoutes } from './view.ts';

type Input = RouteInput<unknown, z.output<typeof catalogQuery>, unknown>;

export async function list(
  { query, requester }: Input,
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof catalogResponse>>> {
  const { candidates, generated_at } = await visibleRoutes(requester, deps, null);
  const { status, include_health } = query;
  const wanted = candidates.filter(
    ({ route }) => status === 'all' || route.executable === (status === 'executable'),
  );
  return {
    status: 200,
    body: { routes: wanted.map((each) => routeViewOf(each, include_health)), generated_at },
  };
}
