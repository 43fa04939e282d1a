/** Prints the verdict for people, or as JSON for programs. */
import type { CheckOptions } from './options.ts';
import { notCovered, type CheckResult } from './verdict.ts';

type Output = { write(text: string): unknown; readonly isTTY?: boolean; hasColors?(): boolean };

const SIGNS = { passed: '✓', failed: '✗', not_run: '-' } as const;
const COLOURS = { passed: 32, failed: 31, not_run: 90 } as const;

export interface Report {
  begin(options: CheckOptions): void;
  result(result: CheckResult): void;
  end(options: CheckOptions, results: readonly CheckResult[], milliseconds: number): void;
}

/**
 * Creates a report that prints each result at once, with colours if the terminal supports them. A
 * cause is printed once: a later failure for the same reason names the first failed check. Checks
 * that were not run are listed at the end, by reason.
 */
export function createReport(output: Output): Report {
  const colours = output.isTTY === true && output.hasColors?.() === true;
  const paint = (code: number, text: string): string =>
    colours ? `\u001b[${code}m${text}\u001b[0m` : text;
  const line = (text: string): void => void output.write(`${text}\n`);
  /** The id of the check that failed first for each reason. */
  const causes = new Map<string, string>();
  return {
    begin: ({ target, sameKeySafe, settleSeconds, timeout }) =>
      line(
        `Checking ${target} (same_key_safe ${String(sameKeySafe)}, settle ${settleSeconds} s, time-out ${timeout} s)\n`,
      ),
    result: ({ id, guarantee, status, milliseconds, reason, advice }) => {
      if (status === 'not_run') return;
      const time = `${milliseconds} ms`.padStart(9);
      line(
        `  ${paint(COLOURS[status], SIGNS[status])} ${id.padEnd(20)}${time.padEnd(11)}${guarantee}`,
      );
      if (reason === undefined) return;
      if (status === 'passed') return line(`      ${paint(90, `(${reason})`)}`);
      const first = causes.get(reason);
      causes.set(reason, first ?? id);
      if (first !== undefined) return line(`      ${paint(31, `as ${first}`)}`);
      line(`      ${paint(31, reason)}`);
      if (advice !== undefined) line(`      → ${advice}`);
    },
    end: (options, results, milliseconds) => {
      for (const [why, ids] of notRun(results))
        line(`  ${paint(90, `${SIGNS.not_run} not run, ${why}: ${ids.join(', ')}`)}`);
      const { passed, failed, not_run } = countsOf(results);
      const without = notCovered(options, results);
      const word =
        failed > 0
          ? paint(31, 'FAILED')
          : without.length > 0
            ? paint(33, `PASSED WITHOUT ${without.join(', ')}`)
            : paint(32, 'PASSED');
      line(
        `\n${word}: ${passed} passed, ${failed} failed, ${not_run} not run, in ${(milliseconds / 1000).toFixed(1)} s`,
      );
    },
  };
}

/** Returns the verdict as one JSON document. */
export function jsonVerdict(
  options: CheckOptions,
  results: readonly CheckResult[],
  milliseconds: number,
): string {
  const counts = countsOf(results);
  const not_covered = notCovered(options, results);
  return JSON.stringify(
    {
      target: options.target,
      ok: counts.failed === 0,
      verdict: counts.failed > 0 ? 'FAILED' : not_covered.length > 0 ? 'PASSED_WITHOUT' : 'PASSED',
      not_covered,
      counts,
      milliseconds: Math.round(milliseconds),
      checks: results,
    },
    null,
    2,
  );
}

function countsOf(results: readonly CheckResult[]) {
  const count = (status: CheckResult['status']): number =>
    results.filter((result) => result.status === status).length;
  return { passed: count('passed'), failed: count('failed'), not_run: count('not_run') };
}

function notRun(results: readonly CheckResult[]): ReadonlyMap<string, readonly string[]> {
  const byReason = new Map<string, string[]>();
  for (const { id, status, reason = '' } of results)
    if (status === 'not_run') byReason.set(reason, [...(byReason.get(reason) ?? []), id]);
  return byReason;
}
