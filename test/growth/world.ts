/** The service's API over a seeded database, for callers of every role; nothing runs behind it. */
import { pino } from 'pino';
import { policyHook } from '../../api/auto-approve/policy-hook.ts';
import { refusalOf } from '../../api/auth/admit.ts';
import type { Guard } from '../../api/auth/guard.ts';
import { commercial } from '../../api/commercial.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import { withExtensions } from '../../api/extension.ts';
import { createApi } from '../../api/app.ts';
import type { Route } from '../../api/http/route.ts';
import { listen, type Listening } from '../../api/http/server.ts';
import { routes } from '../../venues/routes.ts';
import { ACTIONS, instantExecutor } from '../../bench/executors.ts';
import { NO_CHAINS } from '../../domain/plan/tokens.ts';
import type { Caller } from '../../domain/roles.ts';
import { createExecutorRegistry } from '../../executors/registry.ts';
import { NO_BALANCES } from '../../platform/balance-desk.ts';
import type { Database } from '../../prisma/client.ts';
import { SEEDED } from './seed.ts';

/** Every route that a process of the service can have. */
export const ALL_ROUTES: readonly Route[] = withExtensions(routes, [
  commercial({ autoApproveDryRun: false }),
]);

const CALLERS = {
  admin: { client_id: SEEDED.client, key_id: 'key-1', role: 'admin' },
  agent: {
    client_id: SEEDED.client,
    key_id: 'key-2',
    role: 'agent',
    namespace: SEEDED.agentNamespace,
  },
} as const satisfies Record<string, Caller>;
export type CallerName = keyof typeof CALLERS;

export interface Request {
  readonly caller?: CallerName;
  readonly method?: string;
  /** Behind the prefix. */
  readonly path: string;
  readonly body?: unknown;
}

export interface World {
  /** Answers the body; throws unless the status is one of a success. */
  ask(request: Request): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** The API over `db`, which stays open. */
export async function openWorld(db: Database): Promise<World> {
  const executors = createExecutorRegistry({ locals: [instantExecutor()], remotes: [] });
  const deps: ApiDependencies = {
    ...{ db, executors, log: pino({ level: 'silent' }), handOver: () => undefined },
    signers: { list: () => [], get: () => undefined },
    ...{ balances: NO_BALANCES, chains: NO_CHAINS },
    autoApprove: policyHook({ dryRun: false }),
    transfers: {
      accounts: ['venue-0', 'venue-1'].map((venue_key, place) => ({
        ...{ venue_key, provider: 'paper', scope: 'paper' },
        role: place === 0 ? 'master' : 'sub',
      })),
      settleSeconds: () => 0,
      handOver: () => undefined,
    },
    settings: {
      ...{ apiPrefix: '/v3', approvalTtlSeconds: 86_400, authEnabled: true },
      ...{ balanceStaleSeconds: 300, bridgeSnapshotMaxAgeSeconds: 3_600, edition: 'commercial' },
      temporalNamespace: 'default',
      temporalUiUrl: 'http://127.0.0.1',
    },
  };
  const served = {
    admin: await serve(deps, CALLERS.admin),
    agent: await serve(deps, CALLERS.agent),
  };
  return {
    ask: async ({ caller = 'admin', method = 'GET', path, body }) => {
      const answer = await fetch(`http://127.0.0.1:${String(served[caller].port)}/v3${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
      return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
    },
    close: async () => {
      await Promise.all(Object.values(served).map((each) => each.close()));
      await executors.close();
    },
  };
}

function serve(deps: ApiDependencies, caller: Caller): Promise<Listening> {
  const guard: Guard = {
    recognise: () => Promise.resolve(),
    authenticate: () => Promise.resolve(caller),
    limit: () => Promise.resolve(null),
    admit: (route, params) => {
      const refusal = refusalOf(route, params, caller);
      return refusal === null ? Promise.resolve() : Promise.reject(refusal);
    },
  };
  return listen({ app: createApi(deps, ALL_ROUTES, { guard }), host: '127.0.0.1', port: 0 });
}

const node = (node_key: string, config: object): object => ({
  ...{ node_key, node_kind: 'action', action_type: ACTIONS.instant, has_side_effect: true },
  config: { asset: 'USDC', ...config },
});

/** A template of two nodes, of which the first draws from a pool. */
export const TEMPLATE = {
  ...{ template_key: 'growth/pay', version: 1, name: 'Two payments' },
  nodes: [node('n1', { venue: 'venue-0' }), node('n2', {})],
  edges: [{ from: 'n1', to: 'n2', edge_type: 'on_success' }],
  completion_policy: { completion_assurance: 'provider_completed' },
} as const;

/** A request for a movement of it. */
export const MOVEMENT = {
  ...{ template_key: TEMPLATE.template_key, template_version: TEMPLATE.version },
  ...{ strategy_id: SEEDED.strategy, intent: { asset: 'USDC', amount: '3' } },
} as const;

/** Makes the template, and the movement that all others are copies of. */
export async function makePrototype(world: World): Promise<string> {
  await world.ask({ method: 'POST', path: '/plan-templates', body: TEMPLATE });
  const made = await world.ask({ method: 'POST', path: '/movements', body: MOVEMENT });
  return String(made['movement_id']);
}
