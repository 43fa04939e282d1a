/**
 * Which routes serve a request, which of them could be taken now, and in which order to look at
 * them.
 */
import { compare, isDecimal } from '../money.ts';
import { exceedsMax, maxAmount } from '../plan/amount.ts';
import type { RouteBridge } from './bridges.ts';
import { estimateFee } from './fees.ts';
import type { FundRouteHealth } from './health.ts';
import type { FundRoute, FundRouteStats } from './fund-route.ts';
import { scoreParts, totalOf, type Priority, type ScoreParts } from './score.ts';

export interface FundRouteRequest {
  /** In upper case. */
  readonly asset: string;
  readonly source_venue: string | null;
  readonly destination_venue: string | null;
  /** Null skips the checks of limits. */
  readonly amount: string | null;
  readonly priority: Priority;
}

export const INFEASIBLE_REASONS = [
  'not_executable',
  'executor_unavailable',
  'amount_below_min',
  'amount_above_max',
] as const;
export type InfeasibleReason = (typeof INFEASIBLE_REASONS)[number];

/** A route with its present facts. */
export interface Candidate {
  readonly route: FundRoute;
  readonly stats: FundRouteStats | null;
  /** Of all its executors, for people and for the score. */
  readonly health: FundRouteHealth;
  /** Whether each executor that does its work can be called now. */
  readonly can_work: boolean;
  /** Null for a route without bridges. */
  readonly bridge: RouteBridge | null;
}

export interface Recommendation<C extends Candidate = Candidate> {
  readonly rank: number;
  /** 0 to 1; 0 for an infeasible route, so that the score never contradicts the rank. */
  readonly score: number;
  readonly score_parts: ScoreParts;
  readonly feasibility: 'feasible' | 'infeasible';
  readonly infeasible_reasons: readonly InfeasibleReason[];
  readonly candidate: C;
}

/** What fees are compared with when the request names no amount. */
export const REFERENCE_AMOUNT = '1000';

/** Every candidate that serves the request, ranked. The order of the candidates does not matter. */
export function recommend<C extends Candidate>(
  candidates: readonly C[],
  request: FundRouteRequest,
): readonly Recommendation<C>[] {
  return candidates
    .filter(({ route }) => serves(route, request))
    .map((candidate) => judge(candidate, request))
    .sort(byRank(request.priority))
    .map(({ candidate, reasons, parts, total }, index) => ({
      rank: index + 1,
      score: reasons.length === 0 ? total : 0,
      score_parts: parts,
      feasibility: reasons.length === 0 ? 'feasible' : 'infeasible',
      infeasible_reasons: reasons,
      candidate,
    }));
}

/**
 * A plan that moves nothing serves no request. A route without an asset carries the movement's own,
 * whatever it is. A requested venue must be the route's: a route that names none may lead anywhere.
 */
export function serves(
  { metadata, reserved, moves_funds }: FundRoute,
  request: FundRouteRequest,
): boolean {
  if (reserved || !moves_funds) return false;
  if (metadata.asset !== null && metadata.asset.toUpperCase() !== request.asset) return false;
  if (request.source_venue !== null && metadata.source_venue !== request.source_venue) return false;
  return (
    request.destination_venue === null || metadata.destination_venue === request.destination_venue
  );
}

/** Why the route cannot be used now; equal to a limit is allowed. */
export function infeasibleReasons(
  { route, can_work }: Candidate,
  amount: string | null,
): readonly InfeasibleReason[] {
  const found: Readonly<Record<InfeasibleReason, boolean>> = {
    not_executable: !route.executable,
    executor_unavailable: !can_work,
    amount_below_min: amount !== null && isBelowMin(amount, route),
    amount_above_max:
      amount !== null && exceedsMax(amount, maxAmount(route.risk_controls, undefined)),
  };
  return INFEASIBLE_REASONS.filter((reason) => found[reason]);
}

function isBelowMin(amount: string, { risk_controls: { min_amount: limit } }: FundRoute): boolean {
  return typeof limit === 'string' && isDecimal(limit) && compare(amount, limit) < 0;
}

interface Judged<C extends Candidate> {
  readonly candidate: C;
  readonly reasons: readonly InfeasibleReason[];
  readonly parts: ScoreParts;
  /** What the score would be if the route were feasible. */
  readonly total: number;
}

function judge<C extends Candidate>(
  candidate: C,
  { amount, priority }: FundRouteRequest,
): Judged<C> {
  const { route, stats, health, bridge } = candidate;
  const against = amount ?? REFERENCE_AMOUNT;
  const parts = scoreParts({
    stats,
    latency: bridge?.latency_baseline_seconds ?? null,
    fee: estimateFee(route.fee_policy, against, bridgeFee(candidate)),
    amount: against,
    health: health.status,
    priority,
  });
  return { candidate, reasons: infeasibleReasons(candidate, amount), parts, total: totalOf(parts) };
}

/** A bridge's fee is the route's only if nothing else moves funds. */
function bridgeFee({ route, bridge }: Candidate): string | null {
  return route.metadata.transport_family === 'bridge' ? (bridge?.max_fee ?? null) : null;
}

type Order<C extends Candidate> = (a: Judged<C>, b: Judged<C>) => number;

/**
 * Feasible first, then the better total. Rounding may make two totals equal where duration or fee
 * still differ, so those come next; then the key, and of one key the newest version. No two
 * versions are equal in all of these.
 */
function byRank<C extends Candidate>(priority: Priority): Order<C> {
  const faster: Order<C> = (a, b) => seconds(a) - seconds(b);
  const cheaper: Order<C> = (a, b) => compareFees(a.parts.cost.fee, b.parts.cost.fee);
  const orders: readonly Order<C>[] = [
    (a, b) => Number(a.reasons.length > 0) - Number(b.reasons.length > 0),
    (a, b) => b.total - a.total,
    ...(priority === 'speed' ? [faster, cheaper] : [cheaper, faster]),
    (a, b) => compareText(a.candidate.route.template_key, b.candidate.route.template_key),
    (a, b) => b.candidate.route.version - a.candidate.route.version,
  ];
  return (a, b) => {
    for (const order of orders) {
      const difference = order(a, b);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

/** Longer than any measured time where nothing is known; finite, since differences are computed. */
function seconds<C extends Candidate>({ parts: { speed } }: Judged<C>): number {
  return speed.avg_duration_seconds ?? speed.latency_baseline_seconds ?? Number.MAX_VALUE;
}

function compareFees(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}

/** By code unit: the same everywhere, whatever the language of the machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
