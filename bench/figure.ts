/** One figure of the bench. */
import type { Spread } from './stats.ts';

/** A measured quantity with one value a round. */
export interface Figure extends Spread {
  readonly section: string;
  readonly name: string;
  readonly unit: string;
  readonly rounds: readonly number[];
}
