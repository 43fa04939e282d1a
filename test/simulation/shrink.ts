/** Looks for the fewest faults with which a world still contradicts the same rule. */
import type { WorldReport } from './report.ts';

/** Worlds that are run at most. */
const MOST_RUNS = 60;

/**
 * Delta debugging over the numbers of the faults: leaves out ever smaller parts for as long as the
 * first rule that was contradicted still is. Returns the smallest run that was found.
 */
export async function shrink(
  whole: WorldReport,
  run: (only: readonly number[]) => Promise<WorldReport>,
): Promise<WorldReport> {
  const rule = whole.verdicts[0]?.rule;
  let least = whole;
  let kept = whole.faults.map(({ number }) => number);
  let runs = 0;
  const contradicts = async (only: readonly number[]): Promise<boolean> => {
    runs += 1;
    const report = await run(only);
    if (!report.verdicts.some((each) => each.rule === rule)) return false;
    least = report;
    return true;
  };
  if (await contradicts([])) return least;
  for (let parts = 2; kept.length > 1 && runs < MOST_RUNS;) {
    const size = Math.ceil(kept.length / parts);
    let isSmaller = false;
    for (let at = 0; at < kept.length && runs < MOST_RUNS; at += size) {
      const rest = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (!(await contradicts(rest))) continue;
      kept = rest;
      parts = Math.max(2, parts - 1);
      isSmaller = true;
      break;
    }
    if (isSmaller) continue;
    if (size === 1) break;
    parts = Math.min(kept.length, parts * 2);
  }
  return least;
}
