/** Decides whether a bridge may be used from one chain to another, and what a send may cost. */
import { compare } from '../money.ts';
import type { BridgeChain, BridgePath } from './registry.ts';
import { staleSince, type SnapshotClock } from './snapshot.ts';

/** The registry's rows for a path; null for a row that does not exist. */
export interface PathFacts {
  readonly source: BridgeChain | null;
  readonly destination: BridgeChain | null;
  readonly baseline: BridgePath | null;
}

/** What a bridge node receives about its path. */
export interface PathTerms extends Pick<
  BridgePath,
  'fee_native_budget' | 'expected_latency_seconds' | 'detection_latency_budget_seconds'
> {
  /** True: the service has waited for the delivery longer than the path's latency budget. */
  readonly late: boolean;
}

export type PathProblem =
  | 'no_baseline'
  | 'disabled'
  | 'source_snapshot_stale'
  | 'destination_snapshot_stale'
  | 'no_drill_pass';

export type PathReadiness =
  | { readonly ready: true; readonly baseline: BridgePath }
  | {
      readonly ready: false;
      readonly code: 'BRIDGE_PATH_NOT_READY';
      /** In the order in which to solve the problems. */
      readonly problems: readonly PathProblem[];
      /** All problems in one sentence. */
      readonly reason: string;
    };

/**
 * What readiness depends on in addition to the facts: the clock, and the contracts that the path
 * would use.
 */
export interface PathNow extends SnapshotClock {
  /** The text of `pathContracts`; null if an end is not bound. */
  readonly contracts: string | null;
}

/**
 * Returns whether a path may be used: it is enabled, both snapshots are fresh, and a drill has
 * passed with the contracts that the venues file names now.
 */
export function pathReadiness(facts: PathFacts, clock: PathNow): PathReadiness {
  const { source, destination, baseline } = facts;
  const [from, to] = [since(source, clock), since(destination, clock)];
  const found: readonly (readonly [PathProblem, string])[] =
    baseline === null || source === null || destination === null
      ? [['no_baseline', 'the bridge registry has no baseline of this path']]
      : [
          ...one(!baseline.enabled, 'disabled', () =>
            baseline.disabled_reason === null
              ? 'the path is disabled'
              : `the path is disabled: ${baseline.disabled_reason}`,
          ),
          ...one(from !== null, 'source_snapshot_stale', () => stale(source, 'source', from)),
          ...one(to !== null, 'destination_snapshot_stale', () =>
            stale(destination, 'destination', to),
          ),
          ...one(!isDrilled(baseline, clock), 'no_drill_pass', () =>
            baseline.last_drill_pass_at === null
              ? 'no drill has passed with the present endpoints'
              : `its last drill used the contracts [${baseline.last_drill_contracts ?? 'not in the venues file'}], but the venues file now names [${clock.contracts ?? 'none'}]: drill it again`,
          ),
        ];
  if (found.length === 0 && baseline !== null) return { ready: true, baseline };
  return {
    ready: false,
    code: 'BRIDGE_PATH_NOT_READY',
    problems: found.map(([problem]) => problem),
    reason: found.map(([, words]) => words).join('; '),
  };
}

/**
 * Returns whether a fee is within the budget; an equal fee is. Both are decimal strings in the
 * source chain's coin.
 */
export function feeWithinBudget(
  fee: string,
  { fee_native_budget }: Pick<BridgePath, 'fee_native_budget'>,
): { readonly ok: true } | { readonly ok: false; readonly code: 'BRIDGE_FEE_OVER_BUDGET' } {
  return compare(fee, fee_native_budget) <= 0
    ? { ok: true }
    : { ok: false, code: 'BRIDGE_FEE_OVER_BUDGET' };
}

function isDrilled(
  { last_drill_pass_at, last_drill_contracts }: BridgePath,
  { contracts }: PathNow,
): boolean {
  return last_drill_pass_at !== null && contracts !== null && last_drill_contracts === contracts;
}

function since(chain: BridgeChain | null, clock: SnapshotClock): string | null {
  return chain === null ? null : staleSince(chain, clock);
}

function one(
  holds: boolean,
  problem: PathProblem,
  words: () => string,
): readonly (readonly [PathProblem, string])[] {
  return holds ? [[problem, words()]] : [];
}

function stale({ chain }: BridgeChain, end: string, at: string | null): string {
  return `the snapshot of its ${end} ${chain} is stale since ${at ?? 'ever'}`;
}
