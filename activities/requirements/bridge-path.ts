/** The bridge registry's path of a node that crosses a registered bridge. */
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
/** For a path without a recorded latency budget. */
const DETECTION_BUDGET_SECONDS = 3_600;
/** Of the native coin of any EVM chain. */
const COIN_DECIMALS = 18;

/** A path of the bridge, by the identities of its ends, as it was read. */
interface SeenPath {
  readonly source: string;
  readonly destination: string;
  readonly asset: string;
  /** Changes with everything that decides whether the path may be used. */
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
    // The path has changed: the node reads it again.
    refusal: () => null,
  },
};

/** The first leg sends, the second looks for the arrival; null for a node of no path. */
function legOf({ node }: PhaseRow): 1 | 2 | null {
  return legOn('registered', node.action_type);
}

function laneOf({ node: { action_type } }: PhaseRow): BridgeLane {
  const { crossing } = specOf(action_type);
  if (crossing === null) throw new Error(`${action_type} crosses no bridge`);
  return crossing.lane;
}

/** A path as it was read; the fence requires `seen` unchanged. */
interface LookedAt {
  readonly terms: PathTerms;
  readonly seen: SeenPath;
}

/** Problems that do not matter once the signed bytes are out. */
const BEFORE_SENDING: readonly PathProblem[] = [
  'source_snapshot_stale',
  'destination_snapshot_stale',
  'no_drill_pass',
];

/**
 * The path that a send may take now; `sent`: that a signed payment may take with higher fees.
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
      readiness.ready ? 'it has no baseline' : readiness.reason,
    );
  return {
    terms: { ...termsOf(baseline), late: false },
    seen: { ...ends, asset, version: facts.version },
  };
}

/**
 * The second leg waits for what was sent even if its path is not ready now. A path that left the
 * registry keeps the latency budget that its send recorded.
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
  // `submitted_ms` of the second leg is when its looks began, after the send.
  const late = row.submitted_ms !== null && row.now_ms - row.submitted_ms > budget * 1_000;
  return { ...termsOf(baseline), late };
}

/**
 * Checks the bridge fee of a transaction to be signed; `value`: its fee in wei.
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

/** The registry's identities of both chains; null where one is not on the bridge. */
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
