/** What the bridge registry says of the path that a node of the bridge_c lane takes. */
import { pathContracts } from '../../domain/bridges/contracts.ts';
import {
  feeWithinBudget,
  pathReadiness,
  type PathProblem,
  type PathTerms,
} from '../../domain/bridges/path-ready.ts';
import { ExecutorFault, type ExecutionContext } from '../../domain/executor.ts';
import type { JsonValue } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import type { ChainAssets } from '../../domain/plan/tokens.ts';
import type { SeenPath } from '../../domain/transition.ts';
import { readPathFacts } from '../../store/bridge-registry.ts';
import type { Database } from '../../prisma/client.ts';
import type { PhaseRow } from '../../store/phases.ts';

/** What it is found by. */
export interface PathSources {
  readonly db: Database;
  readonly chains: ChainAssets;
  /** How old what a chain of the bridge registry told may be; an hour when left out. */
  readonly bridgeSnapshotMaxAgeSeconds?: number;
}

const SNAPSHOT_MAX_AGE_SECONDS = 3_600;
/** Where nobody has said how long a delivery may take. */
const DETECTION_BUDGET_SECONDS = 3_600;
/** Of the own coin of any EVM chain. */
const COIN_DECIMALS = 18;

/**
 * For the context of a send that is prepared (`prepares`), and of a look at its other end; nothing
 * for other nodes. Before it is sent the fence asks again, by itself.
 *
 * @throws ExecutorFault `rejected` `BRIDGE_ROUTE_MISSING`, or `BRIDGE_PATH_NOT_READY` where a send
 *   may not take its path now.
 */
export async function bridgeTerms(
  deps: PathSources,
  row: PhaseRow,
  prepares: boolean,
): Promise<Pick<ExecutionContext, 'bridge_path'>> {
  const { action_type } = row.node;
  if (action_type === 'bridge_c_send' && prepares)
    return { bridge_path: (await usablePath(deps, row)).terms };
  if (action_type !== 'bridge_c_observe') return {};
  return { bridge_path: await watchedPath(deps, row) };
}

/** A path as it was looked at, and as the fence has to find it again. */
export interface LookedAt {
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
 * @throws ExecutorFault as {@link bridgeTerms}.
 */
export async function usablePath(
  deps: PathSources,
  row: PhaseRow,
  { sent = false } = {},
): Promise<LookedAt> {
  const { source_chain_id: source, destination_chain_id: destination } = row.node.config;
  const ends = endsOf(deps.chains, source, destination);
  if (ends === null)
    throw new ExecutorFault(
      'rejected',
      'BRIDGE_ROUTE_MISSING',
      `chain ${String(source)} or ${String(destination)} has no bridge_c entry in the venues file`,
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
async function watchedPath(deps: PathSources, row: PhaseRow): Promise<PathTerms> {
  const {
    source_chain_id: source,
    destination_chain_id: destination,
    detection_latency_budget_seconds: recorded,
  } = row.matched?.output ?? {};
  const ends = endsOf(deps.chains, source, destination);
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
  from: JsonValue | undefined,
  to: JsonValue | undefined,
): Ends | null {
  const identity = (id: JsonValue | undefined): string | undefined =>
    chains.find(({ chain_id }) => chain_id === id)?.bridge?.endpoint_identity;
  const [source, destination] = [identity(from), identity(to)];
  return source === undefined || destination === undefined ? null : { source, destination };
}

function readFacts({ db }: PathSources, { source, destination }: Ends, asset: string) {
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
