/** The requirement of a node that crosses a registered bridge: a usable path of that bridge. */
import { specOf } from '../../domain/actions/built-in.ts';
import { LANES, type BridgeLane } from '../../domain/actions/spec.ts';
import { pathContracts } from '../../domain/bridges/contracts.ts';
import {
  feeWithinBudget,
  pathReadiness,
  type PathProblem,
  type PathTerms,
} from '../../domain/bridges/path-ready.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonValue } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { legOn } from '../../domain/plan/legs.ts';
import type { ChainAssets } from '../../domain/plan/tokens.ts';
import { readPathFacts } from '../../store/bridge-registry.ts';
import type { PhaseRow } from '../../store/phases.ts';
import type { Requirement, RequirementSources } from './requirement.ts';

const SNAPSHOT_MAX_AGE_SECONDS = 3_600;
/** Seconds until an arrival counts as late, for a path without a recorded latency budget. */
const DETECTION_BUDGET_SECONDS = 3_600;
/** Decimals of the native coin on every EVM chain. */
const COIN_DECIMALS = 18;

/** A bridge path as it was read, identified by the endpoints of both chains and the asset. */
interface SeenPath {
  readonly source: string;
  readonly destination: string;
  readonly asset: string;
  /** A value that changes with every fact that decides whether the path may be used. */
  readonly version: string;
}

export const bridgePath: Requirement = {
  needs: (row) => legOf(row) !== null,
  async terms(deps, row, { purpose }) {
    if (legOf(row) === 2) return { bridge_path: await watchedPath(deps, row) };
    if (purpose !== 'prepare') return {};
    return { bridge_path: (await usablePath(deps, row)).terms };
  },
  guard: {
    kind: 'bridge_path',
    stop: 'bridge_path',
    async requires(deps, row, { way, signs }) {
      if (legOf(row) !== 1) return null;
      const { terms, seen } = await usablePath(deps, row, { sent: way === 'replace_accepted' });
      if (signs !== null) mustBeWithinBudget(signs['value'], terms);
      return seen;
    },
    signer: () => Promise.resolve(null),
    // The path has changed since it was read, so the node reads it again instead of failing.
    refusal: () => null,
  },
};

/**
 * Returns which leg of the crossing the node is: 1 sends, 2 waits for the arrival; null when the
 * node crosses no registered bridge.
 */
function legOf({ node }: PhaseRow): 1 | 2 | null {
  return legOn('registered', node.action_type);
}

function laneOf({ node: { action_type } }: PhaseRow): BridgeLane {
  const { crossing } = specOf(action_type);
  if (crossing === null) throw new Error(`${action_type} crosses no bridge`);
  return crossing.lane;
}

/**
 * Terms of a path for the executor, and the path as `seen`; the fence's write requires that it is
 * unchanged.
 */
interface LookedAt {
  readonly terms: PathTerms;
  readonly seen: SeenPath;
}

/** Problems of a path that matter only before the signed bytes are first sent. */
const BEFORE_SENDING: readonly PathProblem[] = [
  'source_snapshot_stale',
  'destination_snapshot_stale',
  'no_drill_pass',
];

/**
 * Returns the path that a send may use now. `sent`: the payment was sent before and is signed again
 * with higher fees, so {@link BEFORE_SENDING} problems are ignored.
 *
 * @throws ExecutorFault `rejected` `BRIDGE_ROUTE_MISSING`, or `BRIDGE_PATH_NOT_READY`.
 */
async function usablePath(
  deps: RequirementSources,
  row: PhaseRow,
  { sent = false } = {},
): Promise<LookedAt> {
  const { source_chain_id: source, destination_chain_id: destination } = row.node.config;
  const lane = laneOf(row);
  const ends = endsOf(deps.chains, lane, [source, destination]);
  if (ends === null)
    throw new ExecutorFault(
      'rejected',
      'BRIDGE_ROUTE_MISSING',
      `chain ${String(source)} or ${String(destination)} has no ${LANES[lane].entry} entry in the venues file`,
    );
  const { asset } = row.node;
  const facts = await readFacts(deps, ends, asset);
  const readiness = pathReadiness(facts, {
    now: facts.now,
    contracts: pathContracts(deps.chains, ends, asset),
    maxAgeSeconds: deps.bridgeSnapshotMaxAgeSeconds ?? SNAPSHOT_MAX_AGE_SECONDS,
  });
  const { baseline } = facts;
  const open =
    readiness.ready ||
    (sent && readiness.problems.every((problem) => BEFORE_SENDING.includes(problem)));
  if (baseline === null || !open)
    throw new ExecutorFault(
      'rejected',
      'BRIDGE_PATH_NOT_READY',
      readiness.ready ? 'the path has no baseline' : readiness.reason,
    );
  return {
    terms: { ...termsOf(baseline), late: false },
    seen: { ...ends, asset, version: facts.version },
  };
}

/**
 * Returns the terms for the second leg, which waits for the arrival even if the path is not ready
 * now. If the path has left the registry, uses the latency budget that the send recorded.
 */
async function watchedPath(deps: RequirementSources, row: PhaseRow): Promise<PathTerms> {
  const {
    source_chain_id: source,
    destination_chain_id: destination,
    detection_latency_budget_seconds: recorded,
  } = row.matched?.output ?? {};
  const ends = endsOf(deps.chains, laneOf(row), [source, destination]);
  const found = ends === null ? null : (await readFacts(deps, ends, row.node.asset)).baseline;
  const baseline = found ?? {
    fee_native_budget: '0',
    expected_latency_seconds: 0,
    detection_latency_budget_seconds:
      typeof recorded === 'number' ? recorded : DETECTION_BUDGET_SECONDS,
  };
  const { detection_latency_budget_seconds: budget } = baseline;
  // For the second leg, `submitted_ms` is the time of its first look, which is after the send.
  const late = row.submitted_ms !== null && row.now_ms - row.submitted_ms > budget * 1_000;
  return { ...termsOf(baseline), late };
}

/**
 * Throws when the bridge fee of a transaction to be signed is over the path's budget. `value` is
 * the fee in wei.
 *
 * @throws ExecutorFault `rejected` `BRIDGE_FEE_OVER_BUDGET`.
 */
export function mustBeWithinBudget(value: JsonValue | undefined, terms: PathTerms): void {
  const wei = typeof value === 'string' && /^[0-9]{1,78}$/.test(value) ? BigInt(value) : null;
  const fee = wei === null ? null : fromBaseUnits(wei, COIN_DECIMALS);
  if (fee !== null && feeWithinBudget(fee, terms).ok) return;
  throw new ExecutorFault(
    'rejected',
    'BRIDGE_FEE_OVER_BUDGET',
    fee === null
      ? `the bridge fee cannot be read; its path allows ${terms.fee_native_budget} at most`
      : `the bridge fee is ${fee}; its path allows ${terms.fee_native_budget} at most`,
  );
}

type Ends = Pick<SeenPath, 'source' | 'destination'>;

/** Returns the endpoint identities of both chains; null when one is not on the bridge. */
function endsOf(
  chains: ChainAssets,
  lane: BridgeLane,
  ids: readonly (JsonValue | undefined)[],
): Ends | null {
  const [source, destination] = ids.map(
    (id) => chains.find(({ chain_id }) => chain_id === id)?.bridges[lane]?.endpoint_identity,
  );
  return source == null || destination == null ? null : { source, destination };
}

function readFacts({ db }: RequirementSources, { source, destination }: Ends, asset: string) {
  return readPathFacts(db, {
    source: { endpoint_identity: source },
    destination: { endpoint_identity: destination },
    asset,
  });
}

function termsOf(path: Omit<PathTerms, 'late'>): Omit<PathTerms, 'late'> {
  const { fee_native_budget, expected_latency_seconds, detection_latency_budget_seconds } = path;
  return { fee_native_budget, expected_latency_seconds, detection_latency_budget_seconds };
}
