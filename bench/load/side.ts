/**
 * What both sides of a comparison can do: the same three steps, so that they are measured by the
 * same code.
 */
import type { PartName } from '../stack.ts';

export interface Side {
  readonly name: string;
  /** The processes that work for this side; only their CPU is counted. */
  readonly parts: readonly PartName[];
  /** Makes `count` jobs whose runs wait for a signal; returns their ids once all of them wait. */
  prepare(count: number): Promise<readonly string[]>;
  /** Tells one job to go on. */
  tell(id: string): Promise<void>;
  /** How many of these have done everything. */
  done(ids: readonly string[]): Promise<number>;
  /** Fulfilled when the run of this job has closed. */
  closed(id: string): Promise<void>;
}
