/** Fund routes with current facts, as the list and the recommendation show them. */
import { LANES } from '../../domain/actions/spec.ts';
import type { Requester } from '../../domain/commands/context.ts';
import { namespaceOf } from '../../domain/roles.ts';
import {
  routeBridge,
  type BridgeWorld,
  type RouteBridge,
} from '../../domain/fund-routes/bridges.ts';
import type { FundRoute } from '../../domain/fund-routes/fund-route.ts';
import { canAllWork, healthOver, withReasons } from '../../domain/fund-routes/health.ts';
import type { Candidate } from '../../domain/fund-routes/recommend.ts';
import { signerProblems } from '../../domain/fund-routes/signers.ts';
import { expectedWait, type WithdrawalOutlook } from '../../domain/withdrawal-outlook.ts';
import { inSlices } from '../../platform/slices.ts';
import { identityState } from '../../signers/identity.ts';
import { readBridgeRegistry } from '../../store/bridge-registry.ts';
import {
  listFundRoutes,
  readFundRouteFacts,
  type RouteSignerRow,
} from '../../store/fund-routes.ts';
import { readOutlooks } from '../../store/outlooks.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { RouteView } from './schema.ts';

type HealthOf = ReturnType<typeof healthOver>;
type SignerProblemOf = ReturnType<typeof signerProblems>;

/**
 * Returns the fund routes that the caller may see, by key and version. `asset` is the movement's.
 */
export async function visibleRoutes(
  { caller }: Requester,
  deps: ApiDependencies,
  asset: string | null,
): Promise<{ readonly candidates: readonly Candidate[]; readonly generated_at: string }> {
  const [routes, facts] = await Promise.all([
    listFundRoutes(deps.db, namespaceOf(caller)),
    readFundRouteFacts(deps.db),
  ]);
  const healthOf = healthOver(deps.executors.list(), facts.executors);
  const signerProblemOf = signerProblems(
    deps.signers.list(),
    facts.signers.map((row) => ({ ...row, is_drifted: isDrifted(row) })),
  );
  const [world, problems, outlooks] = await Promise.all([
    bridgeWorld(routes, deps),
    problemsOf(routes, deps),
    outlooksFor(routes, deps),
  ]);
  const candidateOf = (route: FundRoute): Candidate => {
    const bridge = routeBridge(route.bridge_legs, asset, world);
    const unsigned = notSigning(route, signerProblemOf, healthOf);
    const reasons = new Map([
      ...waiting(route, { asset, outlooks }, healthOf),
      ...unusable(route, bridge, healthOf),
      ...unmet(route, problems, healthOf),
      ...unsigned,
    ]);
    return {
      route,
      stats: facts.statsOf(route.template_id),
      health: withReasons(healthOf(route.selectors), reasons),
      // Also a gate or noop with a signer is bound to it, and refuses the create without it.
      can_work:
        unsigned.length === 0 &&
        canAllWork(withReasons(healthOf(route.working_selectors), reasons)),
      bridge,
    };
  };
  const candidates = await inSlices(eachOf(routes, candidateOf));
  return { candidates, generated_at: facts.at };
}

function* eachOf<T, R>(items: readonly T[], of: (item: T) => R): Generator<undefined, R[]> {
  const made: R[] = [];
  for (const item of items) {
    made.push(of(item));
    yield;
  }
  return made;
}

/** Returns the bridge facts; reads the registry only if a route needs it. */
async function bridgeWorld(
  routes: readonly FundRoute[],
  { db, chains, settings }: ApiDependencies,
): Promise<BridgeWorld> {
  const asks = routes.some(({ bridge_legs }) =>
    bridge_legs.some(({ lane }) => LANES[lane].paths === 'registered'),
  );
  const registry = asks ? await readBridgeRegistry(db) : null;
  return { chains, registry, maxAgeSeconds: settings.bridgeSnapshotMaxAgeSeconds };
}

type Outlooks = ReadonlyMap<string, WithdrawalOutlook>;

/** Returns what venues show of their withdrawals; reads it only if a route needs it. */
async function outlooksFor(
  routes: readonly FundRoute[],
  { db, settings }: ApiDependencies,
): Promise<Outlooks> {
  const needed = routes.some(({ withdrawals }) => withdrawals.length > 0);
  if (!needed) return new Map<string, WithdrawalOutlook>();
  return readOutlooks(db, settings.balanceStaleSeconds);
}

/** Returns the executors whose withdrawals on the route would wait now, each with the reason. */
function waiting(
  { withdrawals }: FundRoute,
  { asset: requested, outlooks }: { readonly asset: string | null; readonly outlooks: Outlooks },
  healthOf: HealthOf,
): readonly (readonly [string, string])[] {
  return withdrawals.flatMap(({ venue, network, asset: own, selector }) => {
    const outlook = outlooks.get(venue);
    const asset = own ?? requested;
    if (outlook === undefined || asset === null) return [];
    const wait = expectedWait(outlook, { asset, network, amount: null });
    if (wait === null) return [];
    return healthOf([selector]).executors.map(({ executor_key }): [string, string] => [
      executor_key,
      `${wait.code}: ${wait.message}`,
    ]);
  });
}

/** Returns the executors that cannot bridge funds on the route, each with its first reason. */
function unusable(
  { bridge_legs }: FundRoute,
  bridge: RouteBridge | null,
  healthOf: HealthOf,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const [index, { problem }] of (bridge?.legs ?? []).entries()) {
    const selector = bridge_legs[index]?.selector;
    if (problem === null || selector === undefined) continue;
    const [item] = healthOf([selector]).executors;
    if (item === undefined || reasons.has(item.executor_key)) continue;
    reasons.set(item.executor_key, `${problem.error_code}: ${problem.reason}`);
  }
  return reasons;
}

/** Returns the problems that stop all sends of a kind; checks only kinds that a route needs. */
async function problemsOf(
  routes: readonly FundRoute[],
  { db, requirements = [] }: ApiDependencies,
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(
    routes.flatMap(({ requiring_selectors }) => requiring_selectors.map(({ kind }) => kind)),
  );
  const found = await Promise.all(
    requirements
      .filter(({ kind }) => wanted.has(kind))
      .map(async ({ kind, problem }) => [kind, await problem(db)] as const),
  );
  return new Map(found.flatMap(([kind, problem]) => (problem === null ? [] : [[kind, problem]])));
}

/** Returns the executors whose nodes would fail for these problems, each with the failure. */
function unmet(
  { requiring_selectors }: FundRoute,
  problems: ReadonlyMap<string, string>,
  healthOf: HealthOf,
): readonly (readonly [string, string])[] {
  return requiring_selectors.flatMap(({ kind, selector }) => {
    const problem = problems.get(kind);
    if (problem === undefined) return [];
    return healthOf([selector]).executors.map(({ executor_key }): [string, string] => [
      executor_key,
      problem,
    ]);
  });
}

/** Returns the executors of nodes whose signer cannot sign now, each with the reason. */
function notSigning(
  { signing_selectors }: FundRoute,
  signerProblemOf: SignerProblemOf,
  healthOf: HealthOf,
): readonly (readonly [string, string])[] {
  return signing_selectors.flatMap(({ signer, selector }) => {
    const problem = signerProblemOf(signer);
    if (problem === null) return [];
    return healthOf([selector]).executors.map(({ executor_key }): [string, string] => [
      executor_key,
      problem,
    ]);
  });
}

/** Returns whether the address that a signer last reported differs from its pinned one. */
function isDrifted({
  chain_family,
  expected_signer_address: expected,
  observed_signer_address: observed,
}: RouteSignerRow): boolean {
  return identityState({ chain_family, expected, observed }) === 'mismatch';
}

/** Returns a fund route's view; with its health only if the query includes it. */
export function routeViewOf(
  { route, stats, health, bridge }: Candidate,
  withHealth: boolean,
): RouteView {
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
    template_key,
    name,
    version,
    graph_shape,
    node_count,
    executable,
    metadata,
    bridge,
    stats,
    fee_policy,
    risk_controls,
    ...(withHealth ? { health } : {}),
  };
}
