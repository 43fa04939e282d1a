/**
 * The score of a route, from the route's own facts alone, so the order of two routes never depends
 * on a third. Scores are not amounts and may be floats. A better input never gives a lower score.
 */
import type { FeeEstimate } from './fees.ts';
import type { HealthStatus } from './health.ts';
import type { FundRouteStats } from './fund-route.ts';

export const PRIORITIES = ['speed', 'cost'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** Seconds, and the fee as share of the amount, at which a part of the score is 0.5. */
export const HALF_SECONDS = 300;
export const HALF_FEE_SHARE = 0.001;

const HEALTH_VALUES: Readonly<Record<HealthStatus, number>> = {
  healthy: 1,
  degraded: 0.5,
  unavailable: 0,
};
const WEIGHTS: Readonly<
  Record<Priority, { readonly speed: number; readonly cost: number; readonly health: number }>
> = {
  speed: { speed: 0.7, cost: 0.1, health: 0.2 },
  cost: { speed: 0.1, cost: 0.7, health: 0.2 },
};

/** The source of a speed: measured durations of movements, or the bridges' declared latencies. */
export const SPEED_BASES = ['avg_duration', 'latency_baseline'] as const;
export type SpeedBasis = (typeof SPEED_BASES)[number];

/** The parts of a score: `reliability.value * (sum of weight * value of the others)`. */
export interface ScoreParts {
  readonly speed: {
    readonly weight: number;
    readonly value: number;
    readonly avg_duration_seconds: number | null;
    readonly latency_baseline_seconds: number | null;
    readonly basis: SpeedBasis | null;
  };
  readonly cost: {
    readonly weight: number;
    readonly value: number;
    readonly fee: string | null;
    readonly basis: FeeEstimate['basis'] | null;
  };
  readonly health: {
    readonly weight: number;
    readonly value: number;
    readonly status: HealthStatus;
  };
  readonly reliability: {
    readonly value: number;
    readonly total_completed: number;
    readonly total_failed: number;
  };
}

export interface ScoreInput {
  readonly stats: FundRouteStats | null;
  /** Latency in seconds of the route's bridges; null without bridges, or when it is unknown. */
  readonly latency: number | null;
  readonly fee: FeeEstimate | null;
  /** The amount that the fee is compared with. */
  readonly amount: string;
  readonly health: HealthStatus;
  readonly priority: Priority;
}

/**
 * Returns the parts of the score. An unknown value is worth 0, and any known value more. Until a
 * movement has completed, the bridges' declared latency replaces the measured duration.
 */
export function scoreParts(input: ScoreInput): ScoreParts {
  const { stats, latency, fee, amount, health, priority } = input;
  const weights = WEIGHTS[priority];
  const measured = stats?.avg_duration_seconds ?? null;
  const seconds = measured ?? latency;
  const { total_completed, total_failed } = stats ?? { total_completed: 0, total_failed: 0 };
  return {
    speed: {
      weight: weights.speed,
      value: seconds === null ? 0 : falling(seconds, HALF_SECONDS),
      avg_duration_seconds: measured,
      latency_baseline_seconds: latency,
      basis: measured !== null ? 'avg_duration' : latency !== null ? 'latency_baseline' : null,
    },
    cost: {
      weight: weights.cost,
      value: fee === null ? 0 : falling(Number(fee.fee) / Number(amount), HALF_FEE_SHARE),
      fee: fee?.fee ?? null,
      basis: fee?.basis ?? null,
    },
    health: { weight: weights.health, value: HEALTH_VALUES[health], status: health },
    // Adds one completed and one failed movement to the counts, because few movements prove little.
    reliability: {
      value: (total_completed + 1) / (total_completed + total_failed + 2),
      total_completed,
      total_failed,
    },
  };
}

export function totalOf({ speed, cost, health, reliability }: ScoreParts): number {
  return (
    reliability.value *
    (speed.weight * speed.value + cost.weight * cost.value + health.weight * health.value)
  );
}

/** Returns 1 at zero, 0.5 at `half`, and less towards zero beyond. */
function falling(value: number, half: number): number {
  return half / (half + value);
}
