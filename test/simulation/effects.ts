/**
 * Whether counted faults change the run: the same seed is run again without one of them, and the
 * logs are compared.
 */
import type { Struck } from './faults.ts';
import type { WorldReport } from './report.ts';

/** A run with the lines of its log. */
export interface Logged {
  readonly report: WorldReport;
  readonly lines: readonly string[];
}

/** A counted fault without which the log is the same but for the line that names it. */
export type Idle = Pick<Struck, 'number' | 'kind' | 'fault'>;

/** Leaves out `count` counted faults, each in a run of its own, from all parts of the world. */
export async function findIdle(
  whole: Logged,
  count: number,
  run: (only: readonly number[]) => Promise<Logged>,
): Promise<{ readonly tried: number; readonly idle: readonly Idle[] }> {
  const { faults } = whole.report;
  const counted = faults.filter(({ counts }) => counts);
  const tried = Math.min(count, counted.length);
  const idle: Idle[] = [];
  for (let each = 0; each < tried; each += 1) {
    const left = counted[Math.floor(((each + 0.5) * counted.length) / tried)];
    if (left === undefined) continue;
    const numbers = faults.map(({ number }) => number).filter((number) => number !== left.number);
    const { lines } = await run(numbers);
    if (isSame(whole.lines, lines, left.number)) idle.push(left);
  }
  return { tried, idle };
}

/** Whether the logs are the same but for the line of the fault. */
export function isSame(lines: readonly string[], others: readonly string[], left: number): boolean {
  const own = lines.filter((line) => !line.includes(`  fault ${String(left)}: `));
  return own.length === others.length && own.every((line, at) => line === others[at]);
}
