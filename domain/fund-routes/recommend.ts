/**
 * Recommends routes: which routes serve a request, which of those can be used now, and in which
 * order they are ranked.
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
  /** Null: the limits on the amount are not checked. */
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
  /** Health of all the route's executors, for display and for the score. */
  readonly health: FundRouteHealth;
  /** Whether each executor that does the route's work, and each signer, can be used now. */
  readonly can_work: boolean;
  /** Null for a route without bridges. */
  readonly bridge: RouteBridge | null;
}

export interface Recommendation<C extends Candidate = Candidate> {
  readonly rank: number;
  /** 0 to 1. An infeasible route has 0, so that the score never contradicts the rank. */
  readonly score: number;
  readonly score_parts: ScoreParts;
  readonly feasibility: 'feasible' | 'infeasible';
  readonly infeasible_reasons: readonly InfeasibleReason[];
  readonly candidate: C;
}

/** The amount that fees are compared with when the request has no amount. */
export const REFERENCE_AMOUNT = '1000';

/** Returns every candidate that serves the request, ranked. The input may be in any order. */
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
 * Returns whether the route serves the request. A plan that moves no funds serves no request. A
 * route without an asset carries any asset. A requested venue must be the route's venue: a route
 * without a venue may lead anywhere.
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

/** Returns why the route cannot be used now. An amount equal to a limit is allowed. */
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

/** A burn of the movement's amount is refused unless the amount exceeds the burn's fee. */
function isBelowMin(
  amount: string,
  { risk_controls: { min_amount: limit }, bridge_legs }: FundRoute,
): boolean {
  const fees = bridge_legs.flatMap(({ on_the_way, sends_intent, max_fee }) =>
    on_the_way && sends_intent && max_fee !== null ? [max_fee] : [],
  );
  return (
    (typeof limit === 'string' && isDecimal(limit) && compare(amount, limit) < 0) ||
    fees.some((fee) => compare(amount, fee) <= 0)
  );
}

interface Judged<C extends Candidate> {
  readonly candidate: C;
  readonly reasons: readonly InfeasibleReason[];
  readonly parts: ScoreParts;
  /** The score that the route would have if it were feasible. */
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

/** Returns the bridges' fee, only if nothing but bridges carries funds on the route; else null. */
function bridgeFee({ route, bridge }: Candidate): string | null {
  return route.metadata.transport_family === 'bridge' ? (bridge?.max_fee ?? null) : null;
}

type Order<C extends Candidate> = (a: Judged<C>, b: Judged<C>) => number;

/**
 * Ranks feasible routes first, then by total score. Rounding can make two totals equal although
 * duration or fee differ, so those are compared next; then the template key, and for one key the
 * newest version first. No two versions are equal in all of these.
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

/**
 * Returns the duration; the largest number when it is unknown. It must be finite, because
 * differences are computed.
 */
function seconds<C extends Candidate>({ parts: { speed } }: Judged<C>): number {
  return speed.avg_duration_seconds ?? speed.latency_baseline_seconds ?? Number.MAX_VALUE;
}

function compareFees(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a, b);
}

/** Compares by code unit, so that the order does not depend on the machine's language. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
