/** Everything that is left to chance in a run, from one seed, so that a run can be repeated. */
import { randomOf } from '../../dev/simulators/paper-venue/faults.ts';

export interface Dice {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of the items by weight; equal weights by default. */
  pick<T>(items: readonly T[], weightOf?: (item: T) => number): T;
}

/** Dice of a seed; `purpose` keeps the parts of a run from shifting each other's throws. */
export function dice(seed: number, purpose: string): Dice {
  const random = randomOf(mix(seed, purpose));
  return {
    between: (low, high) => low + Math.floor(random() * (high - low + 1)),
    chance: (probability) => random() < probability,
    pick: (items, weightOf = () => 1) => {
      let left = random() * items.reduce((sum, item) => sum + weightOf(item), 0);
      const found = items.find((item) => (left -= weightOf(item)) < 0) ?? items.at(-1);
      if (found === undefined) throw new Error('there is nothing to pick from');
      return found;
    },
  };
}

/** FNV-1a over the purpose, started with the seed. */
function mix(seed: number, purpose: string): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (const character of purpose)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
