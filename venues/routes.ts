/** Every route of the API: those of the core and those of the venues. */
import type { Route } from '../api/http/route.ts';
import { coreRoutes } from '../api/routes.ts';
import { VENUES } from './list.ts';

export const routes: readonly Route[] = [...coreRoutes, ...VENUES.flatMap((venue) => venue.routes)];
