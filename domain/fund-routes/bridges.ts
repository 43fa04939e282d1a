/** The present facts of a route's bridges: duration, fee, and whether they are usable. */
import { LANES, type BridgeLane } from '../actions/spec.ts';
import { chainRowOf, type ChainNames } from '../bridges/chain-row.ts';
import { pathContracts } from '../bridges/contracts.ts';
import { pathReadiness } from '../bridges/path-ready.ts';
import type { BridgeRegistry } from '../bridges/registry.ts';
import { fastAttestationSeconds } from '../chains/fast-attestation.ts';
import { knownChain } from '../chains/finality-table.ts';
import { add } from '../money.ts';
import { assetOf, carriedToken, type ChainEntry } from '../plan/tokens.ts';
import type { BridgeLeg, BurnFinality } from './bridge-legs.ts';

/** The source of a latency baseline. */
export const LATENCY_SOURCES = ['bridge_registry', 'chain_finality', 'fast_attestation'] as const;
export type LatencySource = (typeof LATENCY_SOURCES)[number];

/** Why the bridge leg is not usable now. `error_code` is the code that its node would fail with. */
export interface BridgeProblem {
  readonly error_code: string;
  readonly reason: string;
}

export interface RouteBridgeLeg {
  readonly node_key: string;
  readonly lane: BridgeLane;
  readonly source_chain_id: number | null;
  readonly destination_chain_id: number | null;
  readonly asset: string | null;
  readonly finality: BurnFinality | null;
  readonly latency_baseline_seconds: number | null;
  readonly latency_source: LatencySource | null;
  /** The largest fee, in units of the asset. */
  readonly max_fee: string | null;
  /** The largest fee, in units of `fee_native_asset`. */
  readonly fee_native_budget: string | null;
  readonly fee_native_asset: string | null;
  /** Null: the service does not know. */
  readonly usable: boolean | null;
  readonly problem: BridgeProblem | null;
}

/** All bridge legs of a route together. */
export interface RouteBridge {
  /** Of the longest path through the legs; null when the latency of a leg is unknown. */
  readonly latency_baseline_seconds: number | null;
  /** The largest fee of all legs together; null when the fee of a leg is unknown. */
  readonly max_fee: string | null;
  readonly legs: readonly RouteBridgeLeg[];
}

export interface BridgeWorld {
  readonly chains: readonly BoundChain[];
  /** Null when no bridge of the route uses the registry. */
  readonly registry: BridgeRegistry | null;
  readonly maxAgeSeconds: number;
}

type BoundChain = Pick<
  ChainEntry,
  'venue_key' | 'chain_id' | 'native_asset' | 'tokens' | 'bridges'
>;

/**
 * Returns the facts of a route's bridges; null for a route without bridges. `asset` is the
 * movement's asset; null when the request has none.
 */
export function routeBridge(
  legs: readonly BridgeLeg[],
  asset: string | null,
  world: BridgeWorld,
): RouteBridge | null {
  if (legs.length === 0) return null;
  const read = legs.map((leg) => lookAt({ ...leg, asset: leg.asset ?? asset }, world));
  const passed = legs.flatMap((leg, index) => {
    const facts = read[index];
    return leg.on_the_way && facts !== undefined ? [{ leg, facts }] : [];
  });
  return { latency_baseline_seconds: longest(passed), max_fee: feeOf(passed), legs: read };
}

interface Passed {
  readonly leg: BridgeLeg;
  readonly facts: RouteBridgeLeg;
}

function longest(passed: readonly Passed[]): number | null {
  const arrived = new Map<string, number>();
  for (const { leg, facts } of passed) {
    if (facts.latency_baseline_seconds === null) return null;
    const start = Math.max(0, ...leg.after.map((before) => arrived.get(before) ?? 0));
    arrived.set(leg.node_key, start + facts.latency_baseline_seconds);
  }
  return arrived.size === 0 ? null : Math.max(...arrived.values());
}

/** Adds up the largest fees; null when the legs carry several assets, whose fees have no sum. */
function feeOf(passed: readonly Passed[]): string | null {
  if (new Set(passed.map(({ facts }) => facts.asset)).size !== 1) return null;
  return passed.reduce<string | null>(
    (sum, { facts: { max_fee } }) => (sum === null || max_fee === null ? null : add(sum, max_fee)),
    '0',
  );
}

function lookAt(leg: BridgeLeg, world: BridgeWorld): RouteBridgeLeg {
  const { node_key, lane, source_chain_id, destination_chain_id, asset, finality, max_fee } = leg;
  const unknown = {
    ...{ node_key, lane, source_chain_id, destination_chain_id, asset, finality, max_fee },
    latency_baseline_seconds: null,
    latency_source: null,
    fee_native_budget: null,
    fee_native_asset: null,
    usable: null,
    problem: null,
  };
  const [from, to] = [source_chain_id, destination_chain_id];
  if (from === null || to === null) return unknown;
  const problem = unbound([from, to], world) ?? withoutLane(leg, [from, to], world);
  const known = { ...unknown, usable: problem === null ? null : false, problem };
  return LANES[lane].paths === 'attested'
    ? attested(leg, known, from)
    : registered(leg, known, { from, to }, world);
}

interface Ends {
  readonly from: number;
  readonly to: number;
}

function attested({ finality }: BridgeLeg, known: RouteBridgeLeg, from: number): RouteBridgeLeg {
  const seconds =
    finality === 'fast'
      ? fastAttestationSeconds(from)
      : (knownChain(from)?.typical_age_seconds ?? null);
  const source = finality === 'fast' ? 'fast_attestation' : 'chain_finality';
  return {
    ...known,
    latency_baseline_seconds: seconds,
    latency_source: seconds === null ? null : source,
    usable: known.problem === null,
  };
}

function registered(
  { lane, asset }: BridgeLeg,
  known: RouteBridgeLeg,
  { from, to }: Ends,
  { chains, registry, maxAgeSeconds }: BridgeWorld,
): RouteBridgeLeg {
  if (registry === null || asset === null) return known;
  const source = chainRowOf(registry.chains, namesOf(from, chains, lane));
  const destination = chainRowOf(registry.chains, namesOf(to, chains, lane));
  const baseline =
    registry.paths.find(
      (path) =>
        path.src_chain === source?.chain &&
        path.dst_chain === destination?.chain &&
        path.asset === asset,
    ) ?? null;
  const facts = { source, destination, baseline };
  const contracts =
    source === null || destination === null
      ? null
      : pathContracts(
          chains,
          { source: source.endpoint_identity, destination: destination.endpoint_identity },
          asset,
        );
  const readiness = pathReadiness(facts, { now: registry.now, maxAgeSeconds, contracts });
  const notReady = readiness.ready
    ? null
    : { error_code: readiness.code, reason: readiness.reason };
  const problem = known.problem ?? notReady;
  return {
    ...known,
    latency_baseline_seconds: baseline?.expected_latency_seconds ?? null,
    latency_source: baseline === null ? null : 'bridge_registry',
    fee_native_budget: baseline?.fee_native_budget ?? null,
    fee_native_asset: chains.find(({ chain_id }) => chain_id === from)?.native_asset ?? null,
    usable: problem === null,
    problem,
  };
}

function unbound(ids: readonly number[], { chains }: BridgeWorld): BridgeProblem | null {
  const missing = ids.find((id) => !chains.some(({ chain_id }) => chain_id === id));
  return missing === undefined
    ? null
    : {
        error_code: 'CHAIN_NOT_CONFIGURED',
        reason: `no evm venue is bound to chain ${String(missing)}`,
      };
}

/** Returns the problem for which the node would fail before it sends, if known here. */
function withoutLane(
  { lane, asset, token_address: token }: BridgeLeg,
  ids: readonly number[],
  { chains }: BridgeWorld,
): BridgeProblem | null {
  const ends = ids.flatMap((id) => chains.find(({ chain_id }) => chain_id === id) ?? []);
  const without = ends.find(({ bridges }) => bridges[lane] === undefined);
  if (without !== undefined)
    return {
      error_code: 'BRIDGE_ROUTE_MISSING',
      reason: `venue ${without.venue_key} has no ${LANES[lane].entry} entry`,
    };
  const [source, destination] = ends;
  if (asset === null || source === undefined || destination === undefined) return null;
  for (const [end, error_code] of [
    [source, 'TOKEN_ASSET_MISMATCH'],
    [destination, 'DESTINATION_TOKEN_MISSING'],
  ] as const)
    if (carriedToken(chains, lane, { chainId: end.chain_id, asset }) === null)
      return {
        error_code,
        reason: `venue ${end.venue_key} lists no token of ${asset} for its ${LANES[lane].entry} entry`,
      };
  if (token !== null && assetOf(chains, source.chain_id, token) !== asset)
    return {
      error_code: 'TOKEN_ASSET_MISMATCH',
      reason: `venue ${source.venue_key} does not list ${token} as ${asset}`,
    };
  return null;
}

function namesOf(chain_id: number, chains: readonly BoundChain[], lane: BridgeLane): ChainNames {
  const venue = chains.find((each) => each.chain_id === chain_id);
  return {
    chain_id,
    venue_key: venue?.venue_key ?? null,
    endpoint_identity: venue?.bridges[lane]?.endpoint_identity ?? null,
  };
}
