/** Computes a route's present health from the registry's facts about its executors. */
import type { ExecutorDescriptor } from '../executor.ts';
import { matchExecutors } from '../plan/bindings.ts';
import type { ExecutorSelector } from '../plan/types.ts';

export const HEALTH_STATUSES = ['healthy', 'degraded', 'unavailable'] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

export const EXECUTOR_STATES = ['up', 'down', 'unknown', 'missing', 'ambiguous'] as const;
export type ExecutorState = (typeof EXECUTOR_STATES)[number];

export interface FundRouteHealth {
  readonly status: HealthStatus;
  readonly executors: readonly {
    readonly executor_key: string;
    readonly health_state: ExecutorState;
    /** Why the executor cannot work on this route, although it may work on others. */
    readonly reason?: string;
  }[];
}

/** The stored health of an executor. */
export interface StoredHealth {
  readonly executor_key: string;
  readonly status: string;
  readonly health_state: string;
}

type Item = FundRouteHealth['executors'][number];

/**
 * Returns a function that computes the health of a route. Nodes select among the registered
 * executors, as when a movement is created; `stored` holds each executor's health. An executor
 * without a health check yet is `unknown`; a disabled one counts as down.
 */
export function healthOver(
  registered: readonly ExecutorDescriptor[],
  stored: readonly StoredHealth[],
): (selectors: readonly ExecutorSelector[]) => FundRouteHealth {
  const states = new Map(stored.map((row) => [row.executor_key, stateOf(row)]));
  // A cache: many routes use the same selectors.
  const items = new Map<string, Item>();
  const itemOf = (selector: ExecutorSelector): Item => {
    const name = selectorName(selector);
    const item = items.get(name) ?? itemFor(matchExecutors(selector, registered), name, states);
    items.set(name, item);
    return item;
  };
  return (selectors) => {
    const executors = [
      ...new Map(selectors.map(itemOf).map((item) => [item.executor_key, item])).values(),
    ];
    return { status: statusOf(executors), executors };
  };
}

function itemFor(
  matches: readonly string[],
  name: string,
  states: ReadonlyMap<string, ExecutorState>,
): Item {
  const [executor_key] = matches;
  if (executor_key === undefined) return { executor_key: name, health_state: 'missing' };
  if (matches.length > 1) return { executor_key: name, health_state: 'ambiguous' };
  return { executor_key, health_state: states.get(executor_key) ?? 'unknown' };
}

function stateOf({ status, health_state }: StoredHealth): ExecutorState {
  if (status !== 'active') return 'down';
  return health_state === 'up' || health_state === 'down' ? health_state : 'unknown';
}

/** Returns a name for the selector, shown when it does not match exactly one executor. */
function selectorName({ action_type, provider, chain_family }: ExecutorSelector): string {
  const more = [
    ...(provider === undefined ? [] : [`provider=${provider}`]),
    ...(chain_family === undefined ? [] : [`chain_family=${chain_family}`]),
  ];
  return more.length === 0 ? action_type : `${action_type}[${more.join(',')}]`;
}

/**
 * Returns the route's health with the executors in `reasons` (by executor key) counted as down,
 * because they cannot work on this route. A missing or ambiguous executor keeps its state.
 */
export function withReasons(
  { executors, status }: FundRouteHealth,
  reasons: ReadonlyMap<string, string>,
): FundRouteHealth {
  if (reasons.size === 0) return { executors, status };
  const items = executors.map((item): Item => {
    const reason = reasons.get(item.executor_key);
    if (reason === undefined || ['missing', 'ambiguous'].includes(item.health_state)) return item;
    return { ...item, health_state: 'down', reason };
  });
  return { status: statusOf(items), executors: items };
}

/**
 * Returns whether no executor is known to be unable to work. A route needs all of its executors:
 * one that is up does not replace one that is down, disabled, missing or ambiguous.
 */
export function canAllWork({ executors }: FundRouteHealth): boolean {
  return executors.every(({ health_state }) => health_state === 'up' || health_state === 'unknown');
}

/**
 * Returns the route's status. `unknown` is neither up nor down: a route with only unknown executors
 * is degraded.
 */
function statusOf(executors: readonly Item[]): HealthStatus {
  if (executors.every(({ health_state }) => health_state === 'up')) return 'healthy';
  return executors.every(({ health_state }) =>
    ['down', 'missing', 'ambiguous'].includes(health_state),
  )
    ? 'unavailable'
    : 'degraded';
}
