/** When which process is killed: data, drawn before the run begins. */
import type { Dice } from './random.ts';

export const VICTIMS = ['api', 'worker', 'temporal', 'postgres', 'team'] as const;
export type Victim = (typeof VICTIMS)[number];

/**
 * The worker holds the sends, so it dies most; Temporal and Postgres take everybody with them.
 * `team` is the worker of a team.
 */
const WEIGHTS: Readonly<Record<Victim, number>> = {
  api: 2,
  worker: 4,
  temporal: 2,
  postgres: 2,
  team: 2,
};
const TWO_AT_ONCE = 0.15;

/** The parts that both lanes need, and both chains: they come back with what they had. */
export const BRIDGE_WEIGHTS = {
  api: 2,
  worker: 5,
  temporal: 1,
  postgres: 1,
  'bridge-attester': 2,
  'bridge-deliverer': 2,
  chain: 2,
  'far-chain': 2,
};

/** The parts of the perps venue's lane. */
export const PERP_WEIGHTS = {
  api: 2,
  worker: 5,
  temporal: 1,
  postgres: 1,
  'perp-venue': 2,
  chain: 1,
};

export interface Strike {
  readonly victims: readonly string[];
  /** How long each stays down. */
  readonly down_ms: number;
  /**
   * How long each works undisturbed once it is ready: one that always dies at its start does
   * nothing.
   */
  readonly up_ms: number;
  /** Pause after the strike; what was hit may still be down or starting by then. */
  readonly then_ms: number;
}

/** Strikes with at least `kills` victims in all, drawn by weight. */
export function planStrikes(
  dice: Dice,
  kills: number,
  weights: Readonly<Record<string, number>> = WEIGHTS,
): readonly Strike[] {
  const strikes: Strike[] = [];
  const parts = Object.keys(weights);
  const weightOf = (victim: string): number => weights[victim] ?? 0;
  for (let planned = 0; planned < kills;) {
    const first = dice.pick(parts, weightOf);
    const others = parts.filter((victim) => victim !== first);
    const victims = dice.chance(TWO_AT_ONCE) ? [first, dice.pick(others, weightOf)] : [first];
    strikes.push(strikeOn(dice, victims));
    planned += victims.length;
  }
  return strikes;
}

/** A strike on these parts, with times that are drawn. */
export function strikeOn(dice: Dice, victims: readonly string[]): Strike {
  const [down_ms, up_ms, then_ms] = [
    dice.between(0, 1_500),
    dice.between(500, 4_000),
    dice.between(200, 2_500),
  ];
  return { victims, down_ms, up_ms, then_ms };
}
