/** What crosses between a run and the process of a world: plain data. */
import type { Struck } from './faults.ts';
import type { Verdict } from './judges.ts';

/** What the process of a world gets in place of an exchange's name. */
export const NO_EXCHANGE = 'none';

export interface WorldReport {
  readonly seed: number;
  /** A hash of the whole log; equal for equal runs. */
  readonly digest: string;
  readonly steps: number;
  readonly faults: readonly Struck[];
  /** How often each fault struck and changed the run. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many movements ended in each state, as their callers saw it. */
  readonly states: Readonly<Record<string, number>>;
  /** How many movements ended before they had passed the fence of a send. */
  readonly endedBeforeFence: number;
  /** How often each move of a state was made, and nodes ended with each error code. */
  readonly seen: Readonly<Record<string, number>>;
  readonly verdicts: Verdict[];
  /** The lines of the log about each movement of a verdict, by its id. */
  readonly story: Readonly<Record<string, readonly string[]>>;
}
