/** POST routes/recommend. */
import type { z } from 'zod';
import { recommend } from '../../domain/fund-routes/recommend.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply, RouteInput } from '../http/route.ts';
import type { recommendBody, recommendResponse } from './schema.ts';
import { routeViewOf, visibleRoutes } from './view.ts';

type Input = RouteInput<unknown, unknown, z.output<typeof recommendBody>>;

export async function recommendRoutes(
  { body, requester }: Input,
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof recommendResponse>>> {
  const { candidates, generated_at } = await visibleRoutes(requester, deps, body.asset);
  const recommendations = recommend(candidates, body).map(({ candidate, ...judged }) => ({
    ...judged,
    route: routeViewOf(candidate, false),
  }));
  return { status: 200, body: { recommendations, request: body, generated_at } };
}
