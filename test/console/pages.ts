/**
 * Pages of the console over made answers. What a page reads is found by rendering it, so no answer
 * of it is forgotten.
 */
import { createElement, type ComponentType, type ReactElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { QueryClientProvider, QueryClient } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { commercial } from '../../api/commercial.ts';
import { routes } from '../../venues/routes.ts';
import { OPERATIONS, type OperationId } from '../../clients/http/operations.ts';
import { answerFor, type Leaf } from './answers.ts';

const ROUTES = [...routes, ...(commercial({ autoApproveDryRun: false }).routes ?? [])];

export interface PageCase {
  /** As in `console/routes.ts`. */
  readonly path: string;
  /** The address below `/console`, with its parameters. */
  readonly at: string;
  /** Values that the page needs to agree with each other, by the path of the leaf. */
  readonly where?: Readonly<Record<string, unknown>>;
  /** Answers in place of made ones, by the first part of a query's key. */
  readonly answers?: Readonly<Record<string, unknown>>;
}

export interface Drawn {
  /** Of every answer that the page reads. */
  readonly leaves: readonly Leaf[];
  readonly reads: readonly string[];
  readonly html: () => string;
}

/** The page as an administrator sees it, once everything that it reads has been answered. */
export async function drawn({ path, at, where = {}, answers = {} }: PageCase): Promise<Drawn> {
  // Its modules look where they run when they are loaded.
  Object.assign(globalThis, { location: { origin: 'http://localhost', hash: '' } });
  const { PAGES } = await import('../../console/routes.ts');
  const { sessionStore } = await import('../../console/data/session.ts');
  const { parseSearch, stringifySearch } = await import('../../console/router.tsx');
  const whoami = { client_id: 'dashboard:ada', key_id: 'dashboard:ada', role: 'admin' };
  sessionStore.set({
    ...{ kind: 'open', ended: false, key: { operator: 'ada' }, whoami },
  } as unknown as Parameters<typeof sessionStore.set>[0]);
  const entry = PAGES.find((each) => each.path === path);
  if (entry === undefined) throw new Error(`there is no page ${path}`);
  const { default: component } = (await entry.load()) as { readonly default: () => ReactNode };
  const client = new QueryClient();
  const root = createRootRoute();
  const route = createRoute({ getParentRoute: () => root, path, component });
  const router = createRouter({
    ...{ routeTree: root.addChildren([route]), parseSearch, stringifySearch },
    history: createMemoryHistory({ initialEntries: [at] }),
  });
  await router.load();
  const html = (): string =>
    renderToStaticMarkup(
      createElement(
        QueryClientProvider,
        { client },
        createElement(RouterProvider as ComponentType<{ router: unknown }>, { router }),
      ),
    );
  const leaves: Leaf[] = [];
  const reads: string[] = [];
  for (;;) {
    html();
    const open = client
      .getQueryCache()
      .getAll()
      .filter(({ state, options }) => state.data === undefined && isEnabled(options));
    if (open.length === 0) return { leaves, reads, html };
    for (const { queryKey } of open) {
      const id = queryKey[0] as OperationId;
      if (id in answers) {
        client.setQueryData(queryKey, answers[id]);
        continue;
      }
      const made = answerFor(responseOf(id), id);
      for (const leaf of made.leaves) if (leaf.path in where) leaf.put(where[leaf.path]);
      leaves.push(
        ...made.leaves
          .filter((leaf) => !leaf.path.endsWith('.next_cursor'))
          .map((leaf) => (leaf.path in where ? { ...leaf, value: where[leaf.path] } : leaf)),
      );
      reads.push(id);
      client.setQueryData(queryKey, asKept(id, made.answer));
    }
  }
}

/** An element that has links, as text. */
export async function linked(element: ReactElement): Promise<string> {
  const root = createRootRoute();
  const router = createRouter({
    routeTree: root.addChildren([
      createRoute({ getParentRoute: () => root, path: '/', component: () => element }),
    ]),
    history: createMemoryHistory({ initialEntries: ['/'] }),
  });
  await router.load();
  return renderToStaticMarkup(
    createElement(RouterProvider as ComponentType<{ router: unknown }>, { router }),
  );
}

function isEnabled(options: object): boolean {
  return !('enabled' in options) || options.enabled !== false;
}

function responseOf(id: OperationId) {
  const route = ROUTES.find((each) => each.id === id);
  if (route === undefined) throw new Error(`${id} is no operation of the API`);
  return route.response;
}

/** Lists are kept as pages. */
function asKept(id: OperationId, answer: unknown): unknown {
  const { paged } = OPERATIONS[id];
  if (paged === null) return answer;
  const rows = (answer as Readonly<Record<string, unknown>>)[paged];
  return { pages: [{ rows, next: null }], pageParams: [null] };
}
