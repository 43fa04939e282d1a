/** What the bridge registry says of the path that a node of a registered lane takes. */
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
/** Where nobody has said how long a delivery may take. */
const DETECTION_BUDGET_SECONDS = 3_600;
/** Of the own coin of any EVM chain. */
const COIN_DECIMALS = 18;

/** A path of the bridge by the identities of its ends, as it was looked at. */
interface SeenPath {
  readonly source: string;
  readonly destination: string;
  readonly asset: string;
  /** Another one as soon as anything is different that decides whether it may be used. */
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
    async asked(deps, row, { way, signs }) {
      if (legOf(row) !== 1) return null;
      const { terms, seen } = await usablePath(deps, row, { sent: way === 'replace_accepted' });
      if (signs !== null) mustBeWithinBudget(signs['value'], terms);
      return seen;
    },
    signer: () => Promise.resolve(null),
    // What has changed is looked at.
    refusal: () => null,
  },
};

/** The first leg sends, the second looks for what arrives; null of a node of no path. */
function legOf({ node }: PhaseRow): 1 | 2 | null {
  return legOn('registered', node.action_type);
}

function laneOf({ node: { action_type } }: PhaseRow): BridgeLane {
  const { crossing } = specOf(action_type);
  if (crossing === null) throw new Error(`${action_type} crosses no bridge`);
  return crossing.lane;
}

/** A path as it was looked at, and as the fence has to find it again. */
interface LookedAt {
  readonly terms: PathTerms;
  readonly seen: SeenPath;
}

/** What says nothing about a send whose bytes are out already. */
const BEFORE_SENDING: readonly PathProblem[] = [
  'source_snapshot_stale',
  'destination_snapshot_stale',
  'no_drill_pass',
];

/**
 * The path that a send may take now; `sent`: that what is signed already may take for more.
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
 * What was sent is waited for, whatever has become of its path. One that is in the registry no more
 * has the budget that its send has recorded.
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
  // Its look begins when the send is done.
  const late = row.submitted_ms !== null && row.now_ms - row.submitted_ms > budget * 1_000;
  return { ...termsOf(baseline), late };
}

/**
 * Of what is to be signed for a send: `value` is what it carries for the bridge, in wei.
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
    `it pays the bridge ${fee ?? 'nobody knows what'}, and its path may cost ${terms.fee_native_budget}`,
  );
}

type Ends = Pick<SeenPath, 'source' | 'destination'>;

/** By what the registry knows both chains; null where one of them is not on the bridge. */
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
