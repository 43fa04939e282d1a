/** When which process is killed: data, drawn before the run begins. */
import type { Dice } from './random.ts';

export const VICTIMS = ['api', 'worker', 'temporal', 'postgres', 'team'] as const;
export type Victim = (typeof VICTIMS)[number];

/**
 * The worker holds the sends, so it dies most; Temporal and Postgres take everybody with them.
 * `team` is the worker of a team.
 */
const WEIGHTS: Record<Victim, number> = { api: 2, worker: 4, temporal: 2, postgres: 2, team: 2 };
const TWO_AT_ONCE = 0.15;

export interface Strike {
  readonly victims: readonly Victim[];
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

/** Strikes with at least `kills` victims in all. */
export function planStrikes(dice: Dice, kills: number): readonly Strike[] {
  const strikes: Strike[] = [];
  for (let planned = 0; planned < kills;) {
    const first = dice.pick(VICTIMS, (victim) => WEIGHTS[victim]);
    const others = VICTIMS.filter((victim) => victim !== first);
    const victims = dice.chance(TWO_AT_ONCE)
      ? [first, dice.pick(others, (victim) => WEIGHTS[victim])]
      : [first];
    const [down_ms, up_ms, then_ms] = [
      dice.between(0, 1_500),
      dice.between(500, 4_000),
      dice.between(200, 2_500),
    ];
    strikes.push({ victims, down_ms, up_ms, then_ms });
    planned += victims.length;
  }
  return strikes;
}
