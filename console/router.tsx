/** Maps URLs to pages. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { watchSteps } from './data/steps.ts';
import { Shell } from './shell.tsx';
import { NotFound, PageFailed } from './parts/page-states.tsx';
import { PAGES } from './routes.ts';

/**
 * Returns the filters of a URL as strings, the form in which the service gets them; numbers and
 * JSON are not parsed.
 */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '',
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const routeTree = rootRoute.addChildren(
  PAGES.map(({ path, load }) =>
    createRoute({ getParentRoute: () => rootRoute, path, component: lazyRouteComponent(load) }),
  ),
);

// Without a browser, in tests, there are no steps.
if (typeof window !== 'undefined') watchSteps();

export const router = createRouter({
  routeTree,
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultErrorComponent: PageFailed,
  defaultPendingMs: 300,
});
